import type { WaitingMessage } from '../../../persistence/read-present-calls.ts';
import type { Explanation, Waiting } from '../../../runtime/explain/explanation.ts';
import { formatAge, formatWhen } from '../../cli/format-time.ts';
import { commandText } from '../../cli/settle-commands.ts';
import { sayWaiting } from '../../cli/waiting-text.ts';
import { askedCall } from '../awaiting/asked-call.ts';
import { type Html, markup, said } from '../html.ts';
import { at, when } from '../time-text.ts';
import type { Visit } from '../visit.ts';
import type { SessionAddress } from './session-address.ts';
import { shownText } from './shown-value.ts';

/** What a session waits for, what unblocks it, the exact command, and who acts for it. */
export function waitingPanel(
  explanation: Explanation,
  visit: Visit,
  address: SessionAddress,
  messages: readonly WaitingMessage[],
): Html {
  const { waitsFor, now, state, since } = explanation;
  const isAsking = waitsFor.some((waiting) => NEEDS_PERSON.has(waiting.kind));
  return markup`<section class="card waiting${isAsking && markup` waiting-asks`}" id="waiting" aria-labelledby="waiting-title">
<div class="card-head"><h2 id="waiting-title">${waitsFor.length === 0 ? 'It is over' : isAsking ? 'It needs a person' : 'What it waits for'}</h2><span class="muted small">${state} for ${formatAge(since, now)}</span></div>
<div class="card-body">
${waitsFor.length === 0 && markup`<p>It waits for nothing, and takes nothing any more.</p>`}
${waitsFor.length > 0 && markup`<ul class="waits">${waitsFor.map((waiting) => waitingItem(waiting, { visit, address, now }))}</ul>`}
${messages.length > 0 && inboxList(messages, explanation)}
<dl class="facts small">${leaseFact(explanation)}<div><dt>Next wake</dt><dd>${explanation.wakeAt === null ? 'none' : when(explanation.wakeAt, now)}</dd></div><div><dt>Recoveries in this run</dt><dd>${explanation.recoveries.used} of ${explanation.recoveries.bound}</dd></div></dl>
</div></section>`;
}

/** What nobody but a person unblocks. */
const NEEDS_PERSON: ReadonlySet<Waiting['kind']> = new Set([
  'approval',
  'frozen',
  'overBudget',
  'unrunnable',
  'answer',
  'unknown',
  'quarantined',
  'failed',
]);

/** Columns for a line that is to be read on a page, which wraps. */
const COLUMNS = 400;

interface Showing {
  visit: Visit;
  address: SessionAddress;
  now: Date;
}

/** Where decisions are taken here, what is asked stands with its forms; else in words, with the commands that decide. */
function waitingItem(waiting: Waiting, showing: Showing): Html {
  const { visit, address, now } = showing;
  const asked = visit.decides && 'asked' in waiting ? waiting.asked : null;
  const [what = '', ...more] = sayWaiting(waiting, { now, columns: COLUMNS });
  const commands = waiting.commands.map(
    (words) => markup`<code class="command">${said(commandText(words, {}))}</code>`,
  );
  const below = waiting.kind === 'child' ? waiting.waitsFor : [];
  const words = markup`<p class="wait-what">It waits for ${said(what)}</p>${more.map((line) => markup`<p class="small">${said(line)}</p>`)}<p class="muted">${said(waiting.unblockedBy)}</p>`;
  return markup`<li>${asked === null ? words : askedCall(visit, asked, { isAlone: true })}${asked !== null && waiting.kind !== asked.reason && markup`<p class="small">${said(what)}</p>`}
${commands.length > 0 && markup`<details class="value"${asked === null && markup` open`}><summary>On the command line</summary><div class="commands">${commands}</div></details>`}
${waiting.kind === 'child' && markup`<p><a href="${address.session(waiting.childSessionId)}">Open the session that answers it</a></p>`}
${below.length > 0 && markup`<ul class="waits">${below.map((inner) => waitingItem(inner, showing))}</ul>`}</li>`;
}

function leaseFact({ lease, now }: Explanation): Html {
  if (lease === null) return markup`<div><dt>Worker</dt><dd>nobody holds it</dd></div>`;
  const { holder, expiresAt, heartbeatAt, isLive } = lease;
  const end = isLive ? 'its lease ends' : 'its lease was over';
  return markup`<div><dt>Worker</dt><dd><code>${said(holder)}</code>, last sign of life ${formatWhen(heartbeatAt, now)}, ${end} ${when(expiresAt, now)}</dd></div>`;
}

function inboxList(messages: readonly WaitingMessage[], { inbox }: Explanation): Html {
  const more = inbox.waiting - messages.length;
  return markup`<div class="inbox"><h3>Inbox</h3><ol class="inbox-list">${messages.map(
    ({ kind, content, createdAt, whenBusy, messageId }) =>
      markup`<li><p class="muted small">${kind === 'cancel' ? 'Cancel' : 'Message'}, ${whenBusy}, since ${at(createdAt)}${messageId && markup`, id ${said(messageId)}`}</p>${content.length > 0 && shownText(content)}</li>`,
  )}</ol>${more > 0 && markup`<p class="muted small">And ${more} more.</p>`}</div>`;
}
