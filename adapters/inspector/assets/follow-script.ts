/**
 * The script of a session's pages, which are whole without it. It follows the session by its event stream, and for what is committed fetches the
 * entries after the last one that is shown: an entry is appended only where its sequence is the next one, so that none is lost or doubled,
 * whatever comes twice, late or in between. What stands above is put in place anew unless it holds the focus or an unsent form. On the page of
 * a moment it lends the arrow keys to the links along the transitions.
 */
export const FOLLOW_SCRIPT = `'use strict';
(() => {
  const travel = document.querySelector('.travel');
  if (travel !== null) {
    const rels = { ArrowLeft: 'prev', ArrowRight: 'next', Home: 'first', End: 'last' };
    document.getElementById('travel-hint').hidden = false;
    document.addEventListener('keydown', (event) => {
      const isTaken = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey
        || event.target.closest('input, textarea, select, pre, summary') !== null;
      const link = isTaken || !(event.key in rels) ? null : travel.querySelector('a[rel="' + rels[event.key] + '"]');
      if (link === null) return;
      event.preventDefault();
      location.assign(link.href);
    });
  }

  const list = document.getElementById('timeline');
  const follow = document.getElementById('follow');
  if (list === null || follow === null || list.dataset.latest !== 'true') return;
  const says = document.getElementById('follow-says');
  const state = document.getElementById('follow-state');
  const fresh = document.getElementById('follow-new');
  const PARTS = ['standing', 'waiting', 'chart', 'facts'];
  const MOST = 400;
  const ENDS = { 401: 'Signed out: load the page again', 403: 'Not allowed any more', 404: 'Not there any more' };
  let isOver = false;
  let source = null;
  let timer = 0;
  let isFetching = false;
  let isWanted = false;
  let failures = 0;

  const last = () => Number(list.lastElementChild?.dataset.sequence ?? 0);
  const address = (path) => path + (path.includes('?') ? '&' : '?') + 'after=' + last();
  const show = (name, text) => {
    follow.dataset.state = name;
    if (state.textContent !== text) state.textContent = text;
  };

  const end = (text) => {
    isOver = true;
    source?.close();
    clearTimeout(timer);
    show('away', text);
  };

  const isInUse = (part) => (part.contains(document.activeElement) && document.activeElement !== document.body)
    || part.querySelector('[data-touched]') !== null;

  // A question must not slide away under the pointer, and another one's button take the click.
  const isPointedAt = (part, made) => part.matches(':hover') && [part, made].every((one) => one.querySelector('form[method="post"]') !== null);

  const put = (next) => {
    for (const id of PARTS) {
      const [old, made] = [document.getElementById(id), next.getElementById(id)];
      if (old === null || made === null || isInUse(old) || isPointedAt(old, made) || old.isEqualNode(made)) continue;
      const open = [...old.querySelectorAll('details')].map((one) => one.open);
      const placed = document.importNode(made, true);
      placed.querySelectorAll('details').forEach((one, place) => { one.open = open[place] ?? one.open; });
      old.replaceWith(placed);
    }
  };

  const append = (next) => {
    let count = 0;
    for (const item of next.querySelectorAll('#timeline > li')) {
      if (Number(item.dataset.sequence) !== last() + 1) continue;
      const placed = document.importNode(item, true);
      placed.classList.add('is-fresh');
      list.append(placed);
      if (count === 0 && placed.getBoundingClientRect().top > innerHeight && fresh.hidden) fresh.href = '#' + placed.id;
      count += 1;
    }
    if (count === 0) return 0;
    document.getElementById('timeline-empty')?.remove();
    const version = document.getElementById('timeline-version');
    const range = document.getElementById('timeline-range');
    if (list.lastElementChild.getBoundingClientRect().top > innerHeight) {
      fresh.dataset.count = String(Number(fresh.dataset.count ?? 0) + count);
      fresh.textContent = fresh.dataset.count + ' new \\u2193';
      fresh.hidden = false;
    }
    while (list.childElementCount > MOST && !list.firstElementChild.contains(document.activeElement)) list.firstElementChild.remove();
    if (range !== null) range.textContent = list.firstElementChild.dataset.sequence + ' to ' + last();
    if (version !== null) version.textContent = next.getElementById('timeline-version').textContent;
    for (const link of document.querySelectorAll('.timeline-card .pager a[rel="prev"]')) {
      const to = new URL(link.href);
      to.searchParams.set('before', list.firstElementChild.dataset.sequence);
      link.href = to.href;
    }
    return count;
  };

  const update = async () => {
    if (isFetching) { isWanted = true; return; }
    isFetching = true;
    try {
      do {
        isWanted = false;
        const before = last();
        const response = await fetch(address(list.dataset.entries), { credentials: 'same-origin' });
        if (response.status in ENDS) return end(ENDS[response.status]);
        if (response.redirected || !response.ok) throw new Error(String(response.status));
        const next = new DOMParser().parseFromString(await response.text(), 'text/html');
        const count = append(next);
        put(next);
        const name = document.getElementById('standing')?.textContent.trim();
        if (count > 0) says.textContent = (count === 1 ? 'One new transition. ' : count + ' new transitions. ') + 'The session is now: ' + name + '.';
        if (count > 0 && last() > before && next.querySelectorAll('#timeline > li').length >= 50) isWanted = true;
      } while (isWanted);
      failures = 0;
    } catch {
      failures = Math.min(failures + 1, 5);
    } finally {
      isFetching = false;
    }
    schedule();
  };

  const schedule = () => {
    clearTimeout(timer);
    if (!document.hidden && !isOver) timer = setTimeout(update, failures > 0 ? 1000 * 2 ** failures : 20000);
  };

  const connect = () => {
    if (isOver) return;
    source?.close();
    const own = new EventSource(address(list.dataset.events));
    source = own;
    own.addEventListener('following', () => { show('live', 'Live'); update(); });
    own.addEventListener('transition', update);
    own.addEventListener('error', () => {
      show('away', 'Reconnecting');
      if (own.readyState !== EventSource.CLOSED) return;
      update();
      setTimeout(() => own === source && !document.hidden && connect(), 5000);
    });
  };

  fresh.addEventListener('click', () => { fresh.hidden = true; fresh.dataset.count = '0'; });
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) return connect();
    source?.close();
    source = null;
    clearTimeout(timer);
    if (!isOver) show('away', 'Paused');
  });
  addEventListener('pagehide', () => source?.close());
  addEventListener('pageshow', (event) => { if (event.persisted) connect(); });
  follow.hidden = false;
  show('away', 'Connecting');
  connect();
})();
`;
