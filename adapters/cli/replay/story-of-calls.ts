import type { StoredTransition } from '../../../persistence/read-transitions.ts';
import type { ExecutionRow } from '../../../persistence/row-changes.ts';
import type { StoryEntry } from './story.ts';
import type { Telling } from './telling.ts';

interface Named {
  executionId: string;
  attempt?: number;
}

interface Ended extends Named {
  outcome?: string;
  reason?: string;
  retryInMs?: number;
  by?: string;
}

/** What a transition says of calls: asked for, begun, ended. Nothing where it says nothing of them. */
export function storyOfCalls(telling: Telling, transition: StoredTransition): StoryEntry[] {
  const event: Record<string, unknown> = transition.event ?? {};
  switch (transition.type) {
    case 'model.calledTools':
      return planned(telling, transition, listOf(event.calls));
    case 'execution.started':
      return listOf(event.executions).map((one) => started(telling, transition, one));
    case 'execution.held':
      return idsOf(event.executionIds).map((id) => aboutCall(telling, transition, id, { did: 'waits for a person' }));
    case 'execution.refused':
      return listOf(event.executions).map((one) => ended(telling, transition, { ...one, outcome: 'refused' }));
    case 'tool.settled':
    case 'tool.evidenced':
    case 'tool.attemptFailed':
    case 'tool.outcomeUnknown':
      return listOf(event.results ?? event.executions).map((one) => ended(telling, transition, one));
    case 'run.cancelled':
    case 'limit.met':
    case 'model.failed':
      return transition.settled.map((executionId) => ended(telling, transition, closed(telling, executionId)));
    default:
      return [];
  }
}

/** What became of a call whose run ended before it did. */
function closed({ executions }: Telling, executionId: string): Ended {
  const { status, attempt } = executions.get(executionId) ?? {};
  const outcome = status === 'FAILED' ? 'refused' : 'timedOut';
  return { executionId, outcome, ...(attempt === undefined || attempt === 0 ? {} : { attempt }) };
}

/** The calls of an answer; those that were settled without running say how at once. */
function planned(
  telling: Telling,
  transition: StoredTransition,
  calls: (Ended & { verdict?: string })[],
): StoryEntry[] {
  return calls.flatMap(({ executionId, verdict, outcome }) => {
    const params = telling.firstParamsOf(executionId);
    const asked = aboutCall(telling, transition, executionId, {
      did: VERDICTS[verdict ?? ''] ?? 'is called',
      said: telling.roundOf(executionId, transition.createdAt)?.question ?? null,
      ...(params === undefined ? {} : { params }),
    });
    if (verdict === 'start') telling.begin(executionId, 1, transition.createdAt);
    return verdict === 'settled'
      ? [asked, ended(telling, transition, { executionId, outcome: outcome ?? 'failed' })]
      : [asked];
  });
}

const VERDICTS: Readonly<Record<string, string>> = {
  start: 'is called',
  queue: 'is called, and waits for a slot',
  ask: 'is called, and waits for a person',
  settled: 'is called',
};

function started(telling: Telling, transition: StoredTransition, { executionId, attempt = 1 }: Named): StoryEntry {
  telling.begin(executionId, attempt, transition.createdAt);
  const again = attempt > 1 ? `starts again, attempt ${attempt}, with the same key` : 'starts';
  const row = telling.executions.get(executionId);
  const upgraded = row?.upgradedVersion ?? null;
  const version = upgraded === null ? '' : `, with the params of version ${upgraded}`;
  return aboutCall(telling, transition, executionId, { did: again + version, attempt });
}

const ENDS: Readonly<Record<string, string>> = {
  succeeded: 'answers',
  failed: 'fails',
  timedOut: 'is given up: its outcome is unknown',
  refused: 'does not run',
};

function ended(telling: Telling, transition: StoredTransition, end: Ended): StoryEntry {
  const { executionId, attempt, outcome, reason, retryInMs, by } = end;
  const row = telling.executions.get(executionId);
  const isLate = transition.type === 'tool.evidenced' ? ', late' : '';
  const found = by === 'reconcile' ? ', as asking the receiver says' : '';
  const isLast = retryInMs === undefined && reason === undefined;
  const did =
    reason === undefined
      ? `${ENDS[outcome ?? 'failed'] ?? String(outcome)}${isLate}${found}`
      : `has an unknown outcome (${reason})`;
  const known = isLast ? outcomeOf(telling, transition, executionId, row) : {};
  return aboutCall(telling, transition, executionId, {
    did: retryInMs === undefined ? did : `fails, and is tried again after ${retryInMs} ms`,
    ...(attempt === undefined ? {} : { attempt, tookMs: telling.tookMs(executionId, attempt, transition.createdAt) }),
    ...known,
  });
}

/** What the row says, where no later transition settled it anew. */
function outcomeOf(
  { lastSettledBy }: Telling,
  { sequence }: StoredTransition,
  executionId: string,
  row: ExecutionRow | undefined,
): Pick<StoryEntry, 'output' | 'error'> | object {
  if (row === undefined || lastSettledBy.get(executionId) !== sequence) return {};
  return row.status === 'SUCCESS' ? { output: row.outputPayload } : { error: row.errorMessage };
}

/** An entry about one call. */
export function aboutCall(
  telling: Telling,
  transition: StoredTransition,
  executionId: string,
  more: Partial<StoryEntry>,
): StoryEntry {
  const tool = telling.executions.get(executionId)?.toolName ?? null;
  const entry = telling.entry(transition, { speaker: 'tool', who: tool ?? String(executionId) });
  return { ...entry, tool, executionId, ...more };
}

function listOf(value: unknown): Ended[] {
  return Array.isArray(value) ? (value as Ended[]) : [];
}

function idsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
