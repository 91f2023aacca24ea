import type { Awaiting } from '../../../persistence/list-awaiting.ts';
import { type Html, markup, said, saidInLines } from '../html.ts';
import { counted } from '../session-page/shown-value.ts';
import { badge } from '../state-badge.ts';
import { whenAt } from '../time-text.ts';
import { sessionLink, type Visit } from '../visit.ts';
import { decideForms } from './decide-form.ts';

/** What each kind of question is, in a word and in a sentence. */
export const ASKED_WORDS: Readonly<Record<Awaiting['reason'], { word: string; says: string }>> = {
  approval: { word: 'Approval', says: 'May it run?' },
  answer: { word: 'Question', says: 'The agent asks its user.' },
  unknown: { word: 'Unknown outcome', says: 'It was started, and nothing says how it ended.' },
};

const UNKNOWN_WORDS: Readonly<Record<NonNullable<Awaiting['unknownReason']>, string>> = {
  crash: 'Its process died while it ran.',
  lease: 'Its process lost the session while it ran.',
  timeout: 'It gave no answer in time.',
  reported: 'The tool says that it cannot tell.',
};

/** Characters of the params that stand among other questions: what is longer is decided where all of it is shown. */
const MAX_LISTED_CHARACTERS = 4_096;

/** Where a question stands. */
interface Standing {
  /** On the page of its session, which says whose it is. */
  isAlone?: boolean;
  /** Whether the params are shown whole, however long. Default: where it stands alone. */
  isWhole?: boolean;
}

/** One call that waits for a person: what is asked, what it would do, and the forms to decide. */
export function askedCall(visit: Visit, asked: Awaiting, { isAlone = false, isWhole = isAlone }: Standing = {}): Html {
  const { reason, toolName, question, approvalId, round } = asked;
  const params = reason === 'answer' ? null : JSON.stringify(asked.params, null, 2);
  const isCut = !isWhole && (params?.length ?? 0) > MAX_LISTED_CHARACTERS;
  const { word, says } = ASKED_WORDS[reason];
  const title = `asked-${approvalId}`;
  const again = round > 1 ? markup`<span class="muted small">Asked for the ${ordinal(round)} time</span>` : null;
  return markup`<article class="ask" id="${`ask-${approvalId}`}" aria-labelledby="${title}">
  <div class="ask-head"><h3 class="mono" id="${title}">${said(toolName)}</h3>${badge(word, 'asks')}${again}</div>
  <p class="ask-question">${question === null ? says : saidInLines(question)}</p>
  ${asked.unknownReason === null ? null : markup`<p class="muted">${UNKNOWN_WORDS[asked.unknownReason]} It was started ${asked.attempt === 1 ? 'once' : `${asked.attempt} times`}.</p>`}
  ${lateFacts(asked)}
  ${params === null ? null : markup`<pre class="payload" tabindex="0" role="group" aria-label="Params">${saidInLines(isCut ? `${params.slice(0, MAX_LISTED_CHARACTERS)}…` : params)}</pre>`}
  ${factsOf(visit, asked, isAlone)}
  ${isCut ? elsewhere(visit, asked, params?.length ?? 0) : decideForms(visit, asked)}
</article>`;
}

function elsewhere(visit: Visit, asked: Awaiting, length: number): Html {
  const { approvalId } = asked;
  return markup`<p class="note">These are the first ${counted(MAX_LISTED_CHARACTERS, 'character')} of ${length.toLocaleString('en-GB')}. <a href="${sessionLink(visit, asked)}#ask-${approvalId}">Read all of it, and decide, on the page of its session</a></p>`;
}

function factsOf(visit: Visit, asked: Awaiting, isAlone: boolean): Html {
  const { agent, userId, tenantId, sessionId, externalId, requestedAt, expiresAt } = asked;
  const now = new Date(visit.environment.now());
  const whose = isAlone
    ? null
    : markup`<div><dt>Session</dt><dd><a href="${sessionLink(visit, asked)}">${externalId === null ? markup`<span class="mono">${sessionId.slice(0, 8)}</span>` : said(externalId)}</a></dd></div>
  <div><dt>Agent</dt><dd>${said(agent)}</dd></div>
  <div><dt>User</dt><dd>${said(userId)}</dd></div>
  ${visit.viewer.tenantId === null ? markup`<div><dt>Tenant</dt><dd>${said(tenantId)}</dd></div>` : null}`;
  return markup`<dl class="facts">${whose}
  <div><dt>Asked</dt><dd>${whenAt(requestedAt, now)}</dd></div>
  ${expiresAt === null ? null : markup`<div><dt>${expiresAt > now ? 'Expires' : 'Expired'}</dt><dd>${whenAt(expiresAt, now)}</dd></div>`}
</dl>`;
}

function lateFacts({ evidence }: Awaiting): Html | null {
  if (evidence.length === 0) return null;
  return markup`<div class="note note-asks"><strong>Came back late</strong><ul class="stack">${evidence.map(
    ({ attempt, outcome, output, error }) =>
      markup`<li>Attempt ${attempt} ${outcome}: <code>${said(error === null ? JSON.stringify(output) : error.message)}</code></li>`,
  )}</ul></div>`;
}

function ordinal(round: number): string {
  const end = round % 100 > 10 && round % 100 < 20 ? 'th' : (['th', 'st', 'nd', 'rd'][round % 10] ?? 'th');
  return `${round}${end}`;
}
