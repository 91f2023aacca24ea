import type { ExecutionStatus } from '../../../machines/execution-status.ts';
import type { RoundDecision, RoundKind } from '../../../persistence/project-rounds.ts';
import type { TimelineCall, TimelineEvidence, TimelineRound } from '../../../persistence/read-timeline-calls.ts';
import { type Html, markup, said } from '../html.ts';
import { badge, stateBadge, type Tone } from '../state-badge.ts';
import { at } from '../time-text.ts';
import type { SessionAddress } from './session-address.ts';
import { lasted, shownJson, shownText } from './shown-value.ts';

const STATUS_WORDS: Readonly<Record<ExecutionStatus, { text: string; tone: Tone }>> = {
  PENDING: { text: 'Pending', tone: 'quiet' },
  RUNNING: { text: 'Running', tone: 'busy' },
  SUCCESS: { text: 'Succeeded', tone: 'good' },
  FAILED: { text: 'Failed', tone: 'bad' },
  TIMED_OUT: { text: 'Timed out, outcome unknown', tone: 'bad' },
};

/** Where the second machine stands: the status of one execution. Unknown is a case of its own. */
export function statusBadge({
  status,
  unknownReason,
}: {
  status: ExecutionStatus;
  unknownReason: string | null;
}): Html {
  if (status === 'RUNNING' && unknownReason !== null) {
    return badge('Outcome unknown', 'asks', `RUNNING, and nothing says how it ended: ${unknownReason}`);
  }
  const { text, tone } = STATUS_WORDS[status];
  return badge(text, tone, status);
}

/** A tool call with its attempts, its params and outcome, who was asked, what came late, and who answers it. */
export function callCard(address: SessionAddress, call: TimelineCall): Html {
  const { toolName, toolVersion, effect, executionId, errorCode, errorMessage, child, answeredBy } = call;
  return markup`<div class="call" id="call-${executionId}">
<div class="call-head"><h4><span class="unseen">Tool call </span><code class="call-name">${said(toolName)}</code></h4>${statusBadge(call)}<span class="call-facts">${factsOf(call).join(' · ')}</span></div>
${(errorMessage !== null || errorCode !== null) && errorLine(errorCode, errorMessage)}
${child && markup`<p class="small">Answered by a session of ${said(child.agent)}: <a href="${address.session(child.sessionId)}">${child.sessionId}</a> ${stateBadge(child.state)}</p>`}
${answeredBy && markup`<p class="small">Answered by the result of an earlier call: <code>${answeredBy}</code></p>`}
<div class="values">${shownJson('Params', call.params)}${shownJson('Unparsed input', call.rawInput)}${shownJson('Output', call.output)}
<details class="value"><summary>Identity</summary><dl class="facts small"><div><dt>Execution</dt><dd><code>${executionId}</code></dd></div><div><dt>Idempotency key</dt><dd><code>${said(call.idempotencyKey)}</code></dd></div><div><dt>Digest of the params</dt><dd><code>${said(call.digest)}</code></dd></div><div><dt>Tool version</dt><dd>${toolVersion}</dd></div><div><dt>Effect</dt><dd>${effect}</dd></div><div><dt>Started</dt><dd>${at(call.startedAt)}</dd></div>${call.deadlineAt && markup`<div><dt>Deadline</dt><dd>${at(call.deadlineAt)}</dd></div>`}${call.settledBy && markup`<div><dt>Settled by</dt><dd>${said(call.settledBy)}</dd></div>`}</dl>${shownJson('Metadata', call.metadata)}</details></div>
${call.rounds.length > 0 && markup`<ul class="rounds">${call.rounds.map(roundLine)}</ul>`}
${call.evidence.length > 0 && markup`<ul class="rounds">${call.evidence.map(evidenceLine)}</ul>`}
</div>`;
}

/** A call as a chip: what it is and where it stands. */
export function callChip(call: Pick<TimelineCall, 'toolName' | 'status' | 'unknownReason' | 'attempt'>): Html {
  const attempts = call.attempt > 1 ? markup` <span class="muted small">attempt ${call.attempt}</span>` : null;
  return markup`<li class="chip"><code>${said(call.toolName)}</code> ${statusBadge(call)}${attempts}</li>`;
}

function factsOf({ attempt, effect, startedAt, completedAt, retryAt }: TimelineCall): string[] {
  const took = completedAt !== null && attempt > 0 ? completedAt.getTime() - startedAt.getTime() : null;
  return [
    attempt === 0 ? 'never started' : attempt === 1 ? '1 attempt' : `${attempt} attempts`,
    ...(took === null ? [] : [lasted(took)]),
    ...(retryAt === null ? [] : ['is tried again']),
    effect,
  ];
}

/** What went wrong, in the words of whoever said so. */
export function errorLine(code: string | null, message: TimelineCall['errorMessage']): Html {
  return markup`<div class="failure">${code && markup`<code>${said(code)}</code>`}${message && shownText(message)}</div>`;
}

const ASKED: Readonly<Record<RoundKind, string>> = {
  approval: 'Asked for approval',
  answer: 'Asked its user',
  unknown: 'Asked how it ended',
};

const DECIDED: Readonly<Record<RoundDecision, { text: string; tone: Tone }>> = {
  granted: { text: 'Approved', tone: 'good' },
  denied: { text: 'Denied', tone: 'bad' },
  answered: { text: 'Answered', tone: 'good' },
  settled: { text: 'Settled', tone: 'good' },
  expired: { text: 'Expired', tone: 'bad' },
  superseded: { text: 'Superseded', tone: 'quiet' },
  cancelled: { text: 'Cancelled', tone: 'quiet' },
};

function roundLine(round: TimelineRound): Html {
  const { kind, digest, question, approvers, requestedAt, expiresAt, decision, decidedBy, decidedAt, reason } = round;
  const decided = decision === null ? badge('Open', 'asks') : badge(DECIDED[decision].text, DECIDED[decision].tone);
  return markup`<li><div class="cluster"><strong>${ASKED[kind]}</strong>${decided}${decidedBy && markup`<span>by ${said(decidedBy)}</span>`}${decidedAt && at(decidedAt)}</div>
${question && shownText(question)}${reason && markup`<div><span class="muted small">Reason</span>${shownText(reason)}</div>`}
<p class="muted small">Round ${round.round}, asked ${at(requestedAt)}${expiresAt && markup`, expires ${at(expiresAt)}`}${round.consumedAt && markup`, used ${at(round.consumedAt)}`}. Digest <code>${said(digest.slice(0, 16))}…</code></p>${shownJson('Approvers', approvers)}</li>`;
}

function evidenceLine({ attempt, outcome, output, errorCode, errorMessage, createdAt }: TimelineEvidence): Html {
  return markup`<li><div class="cluster"><strong>Came back late</strong>${badge(`attempt ${attempt}: ${outcome}`, outcome === 'succeeded' ? 'good' : 'bad')}${at(createdAt)}</div>${(errorCode !== null || errorMessage !== null) && errorLine(errorCode, errorMessage)}${shownJson('Output', output)}</li>`;
}
