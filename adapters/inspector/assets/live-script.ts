/**
 * The one script of the inspector. Without it every page works as it stands; with it, what is marked `data-live="SECONDS"` and has an id is
 * fetched anew with the page while somebody looks, unless updates are paused, the part holds the focus or an unsent form, or the pointer is over forms that decide. It also keeps a
 * form from being sent twice, and asks before what `data-confirm` says.
 */
export const LIVE_SCRIPT = `'use strict';
(() => {
  const parts = () => [...document.querySelectorAll('[data-live][id]')];
  const toggle = document.getElementById('live-toggle');
  let paused = false;
  let timer = 0;
  let failures = 0;
  let isFetching = false;

  const isInUse = (part) => part.contains(document.activeElement) && document.activeElement !== document.body
    || part.querySelector('[data-touched]') !== null || part.matches('[data-touched]');

  // A question must not slide away under the pointer, and another one's button take the click.
  const isPointedAt = (part, fresh) => part.matches(':hover') && [part, fresh].every((one) => one.querySelector('form[method="post"]') !== null);

  const schedule = () => {
    clearTimeout(timer);
    const seconds = Math.min(...parts().map((part) => Number(part.dataset.live) || 5));
    if (paused || document.hidden || !Number.isFinite(seconds)) return;
    timer = setTimeout(update, Math.min(seconds * 1000 * 2 ** failures, 60000));
  };

  const update = async () => {
    if (isFetching) return;
    isFetching = true;
    try {
      const response = await fetch(location.href, { headers: { accept: 'text/html' }, credentials: 'same-origin' });
      if (response.redirected || !response.ok) throw new Error(String(response.status));
      const next = new DOMParser().parseFromString(await response.text(), 'text/html');
      failures = 0;
      for (const part of parts()) {
        const fresh = next.getElementById(part.id);
        if (fresh === null || isInUse(part) || isPointedAt(part, fresh) || fresh.isEqualNode(part)) continue;
        const open = new Set([...part.querySelectorAll('details[open][id]')].map(({ id }) => id));
        const put = document.importNode(fresh, true);
        for (const details of put.querySelectorAll('details[id]')) if (open.has(details.id)) details.open = true;
        part.replaceWith(put);
        put.dispatchEvent(new CustomEvent('turnlock:updated', { bubbles: true }));
      }
    } catch {
      failures = Math.min(failures + 1, 4);
    } finally {
      isFetching = false;
    }
    document.documentElement.dataset.stale = String(failures > 1);
    schedule();
  };

  document.addEventListener('input', (event) => {
    event.target.closest?.('form')?.setAttribute('data-touched', '');
  });
  document.addEventListener('submit', (event) => {
    const form = event.target;
    const says = event.submitter?.dataset.confirm ?? form.dataset.confirm;
    if (form.dataset.sent !== undefined || (says !== undefined && !confirm(says))) return event.preventDefault();
    if (form.method === 'post') form.dataset.sent = '';
  });
  addEventListener('pageshow', () => {
    for (const form of document.querySelectorAll('[data-sent]')) delete form.dataset.sent;
  });
  document.addEventListener('visibilitychange', () => {
    if (document.hidden || paused || parts().length === 0) clearTimeout(timer);
    else update();
  });
  if (toggle !== null && parts().length > 0) {
    toggle.hidden = false;
    toggle.addEventListener('click', () => {
      paused = !paused;
      toggle.setAttribute('aria-pressed', String(paused));
      toggle.textContent = paused ? 'Updates are paused: go on' : 'Pause updates';
      if (paused) clearTimeout(timer);
      else update();
    });
  }
  document.documentElement.dataset.script = '';
  schedule();
})();
`;
