import type { SessionStory, StoredModelCall } from '../../../persistence/read-session-story.ts';
import type { StoredTransition } from '../../../persistence/read-transitions.ts';
import type { StoredTurn } from '../../../persistence/read-turns.ts';
import type { SessionRecord } from '../session-record.ts';
import { buildTimeline, type TimelineEntry } from '../timeline.ts';
import type { StoryEntry } from './story.ts';
import { aboutCall, storyOfCalls } from './story-of-calls.ts';
import { Telling } from './telling.ts';

/** What happened in a session, in order: pure, from its rows. */
export function buildStory(record: SessionRecord, story: SessionStory): StoryEntry[] {
  const telling = new Telling(record, story);
  return buildTimeline(record).flatMap((entry) => {
    if (entry.transition === null) return [];
    return [...storyOf(telling, entry.transition, entry), ...storyOfCalls(telling, entry.transition)];
  });
}

function storyOf(telling: Telling, transition: StoredTransition, { turns }: TimelineEntry): StoryEntry[] {
  const { type, event, by, messageId } = transition;
  const said = turns.map(({ turn }) => turn);
  const facts = (event ?? {}) as Record<string, unknown>;
  const { userId } = telling.record.overview;
  const user = { speaker: 'user', who: userId } as const;
  const person = { speaker: 'person', who: by ?? 'somebody' } as const;
  const session = { speaker: 'session', who: 'session' } as const;
  const act = (
    whose: Pick<StoryEntry, 'speaker' | 'who'>,
    did: string,
    more: Partial<StoryEntry> = {},
  ): StoryEntry[] => [{ ...telling.entry(transition, whose), did, ...more }];
  switch (type) {
    case 'user.messaged':
      if (typeof facts.answersExecutionId === 'string')
        return [answered(telling, transition, facts.answersExecutionId)];
      return spoken(
        telling,
        transition,
        said.filter(({ role }) => role === 'user'),
        user,
      );
    case 'message.enqueued':
      return act(user, `sends a message, which waits${messageId === null ? '' : ` (${messageId})`}`);
    case 'message.rejected':
      return act(user, `sends a message, which is refused: ${facts.code}`);
    case 'model.replied':
    case 'model.calledTools':
      return replied(
        telling,
        transition,
        said.filter(({ role }) => role === 'assistant'),
      );
    case 'model.attemptFailed':
      return failed(telling, transition, `is tried again after ${facts.retryInMs} ms`);
    case 'model.failed':
      return failed(telling, transition, `ends the run: ${facts.code}`);
    case 'limit.met':
      return act(session, `ends the run: ${facts.code}`);
    case 'approval.granted':
    case 'approval.amended':
    case 'approval.denied':
    case 'execution.settledByPerson':
      return [decided(telling, transition, String(facts.executionId))];
    case 'approval.superseded':
      return idsOf(facts.executionIds).map((id) =>
        aboutCall(telling, transition, id, { ...user, did: `makes ${telling.nameOf(id)} needless` }),
      );
    case 'input.expired':
      return idsOf(facts.executionIds).map((id) =>
        aboutCall(telling, transition, id, { did: 'is not run: nobody decided in time' }),
      );
    case 'tool.evidenced':
      return spoken(
        telling,
        transition,
        said.filter(({ role }) => role === 'system'),
        session,
      );
    case 'run.cancelled':
      return act(person, 'cancels the run');
    case 'session.retried':
      return act(person, 'begins a new run from the history as it is');
    case 'session.completed':
      return act(person, 'completes the session');
    case 'session.forked':
      return act(person, `forks session ${facts.originSessionId} up to turn ${facts.originTurnIndex}`);
    case 'lease.released':
      return act(person, 'takes the session from its worker');
    case 'worker.tookOver':
      return act({ speaker: 'worker', who: String(facts.holder ?? 'worker') }, 'takes the session over');
    case 'machine.upgraded':
      return act(session, `is upgraded from version ${facts.fromVersion} of its machine to version ${facts.toVersion}`);
    case 'content.erased':
      return act(person, 'erases contents');
    default:
      return [];
  }
}

function idsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function spoken(
  telling: Telling,
  transition: StoredTransition,
  turns: readonly StoredTurn[],
  whose: Pick<StoryEntry, 'speaker' | 'who'>,
): StoryEntry[] {
  return turns.map(({ content, turnIndex }) => ({ ...telling.entry(transition, whose), said: content, turnIndex }));
}

function replied(telling: Telling, transition: StoredTransition, turns: readonly StoredTurn[]): StoryEntry[] {
  const who = telling.record.overview.agent;
  const call = telling.takeModelCall(transition.runId, false);
  const took = { model: modelOf(call), tookMs: call?.latencyMs ?? null };
  return spoken(telling, transition, turns, { speaker: 'agent', who }).map((entry) => ({ ...entry, ...took }));
}

function failed(telling: Telling, transition: StoredTransition, then: string): StoryEntry[] {
  const call = telling.takeModelCall(transition.runId, true);
  const entry = telling.entry(transition, { speaker: 'agent', who: telling.record.overview.agent });
  const error = call?.errorMessage ?? null;
  return [
    {
      ...entry,
      did: `has no answer of its model, and ${then}`,
      error,
      model: modelOf(call),
      tookMs: call?.latencyMs ?? null,
    },
  ];
}

function modelOf(call: StoredModelCall | null): StoryEntry['model'] {
  if (call === null) return null;
  const { modelId, attempt, latencyMs, usage } = call;
  return { modelId, attempt, latencyMs, usage };
}

/** The user's answer to a question of the agent. */
function answered(telling: Telling, transition: StoredTransition, executionId: string): StoryEntry {
  const output = telling.executions.get(executionId)?.outputPayload ?? null;
  const said = typeof output === 'string' ? output : JSON.stringify(output);
  const user = { speaker: 'user', who: telling.record.overview.userId } as const;
  const tookMs = telling.waitedMs(executionId, transition.createdAt);
  return aboutCall(telling, transition, executionId, {
    ...user,
    did: `answers ${telling.nameOf(executionId)}`,
    said,
    tookMs,
  });
}

/** What a person decided about a call, and how long it was waited for. */
function decided(telling: Telling, transition: StoredTransition, executionId: string): StoryEntry {
  const { type, event, by } = transition;
  const row = telling.executions.get(executionId);
  const { outcome } = (event ?? {}) as { outcome?: string };
  const isLast = telling.lastSettledBy.get(executionId) === transition.sequence;
  const known = row?.status === 'SUCCESS' ? { output: row.outputPayload } : { error: row?.errorMessage ?? null };
  return aboutCall(telling, transition, executionId, {
    speaker: 'person',
    who: by ?? 'somebody',
    did: wordsOf(type, outcome, row?.toolName ?? executionId),
    tookMs: telling.waitedMs(executionId, transition.createdAt),
    ...(type === 'approval.amended' && row !== undefined ? { params: row.inputParameters } : {}),
    ...(isLast ? known : {}),
  });
}

function wordsOf(type: string, outcome: string | undefined, tool: string): string {
  if (type === 'approval.granted') return `approves ${tool}`;
  if (type === 'approval.amended') return `approves ${tool} with other params`;
  if (type === 'approval.denied') return `refuses ${tool}`;
  return outcome === 'runAgain' ? `lets ${tool} run again` : `says that ${tool} ${outcome}`;
}
