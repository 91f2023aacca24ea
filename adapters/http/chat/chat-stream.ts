import { ERROR_CODES, type ErrorCode } from '../../../errors.ts';
import { isResting } from '../../../machines/session-state.ts';
import type { StoredTransition } from '../../../persistence/read-transitions.ts';
import type { RunResult } from '../../../runtime/run-event.ts';
import type { Asked, Opened } from '../asked.ts';
import { turnsOf } from '../event-routes.ts';
import { eventStream } from '../event-stream.ts';
import { problemOf } from '../problem.ts';
import { ChatProjection } from './chat-projection.ts';
import type { ChatChunk } from './chunks.ts';
import { beginsMessage, executionsOf, messageIdOf, runOf } from './segments.ts';
import { waitingCalls } from './waiting-calls.ts';

/** Which part of a chat is streamed. */
export interface ChatStreamed {
  runId: string;
  /** Transitions of the message that the client has already. */
  before: readonly StoredTransition[];
  /** The sequence after which the stream begins. */
  after: number;
  /** The sequence from which on a resting session ends it. */
  restsFrom: number;
  /** How the run ends, where a message was sent; it says whether that waits for its turn. */
  settled: Promise<RunResult> | null;
}

/** One message of an assistant in the AI SDK's UI message stream, until its session rests. */
export function chatStream(asked: Asked, opened: Opened, streamed: ChatStreamed): Response {
  const { settings, request } = asked;
  const ends = new AbortController();
  return eventStream(toLines(asked, opened, streamed, ends), {
    ends,
    heartbeatMs: settings.heartbeatMs,
    environment: settings.environment,
    headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
    onError: (error) => settings.onError(error, request),
  });
}

async function* toLines(
  asked: Asked,
  opened: Opened,
  streamed: ChatStreamed,
  ends: AbortController,
): AsyncGenerator<string, void> {
  try {
    for await (const chunk of toChunks(asked, opened, streamed, ends)) yield `data: ${JSON.stringify(chunk)}\n\n`;
  } catch (error) {
    asked.settings.onError(error, asked.request);
    const { code, detail } = problemOf(error);
    yield `data: ${JSON.stringify({ type: 'error', errorText: `${code}: ${detail}` } satisfies ChatChunk)}\n\n`;
  }
  yield 'data: [DONE]\n\n';
}

async function* toChunks(
  asked: Asked,
  opened: Opened,
  { runId, before, after, restsFrom, settled }: ChatStreamed,
  ends: AbortController,
): AsyncGenerator<ChatChunk, void> {
  const { session } = opened;
  const projection = new ChatProjection();
  const project = async (transition: StoredTransition): Promise<ChatChunk[]> => {
    const turns = await turnsOf(session, transition);
    return projection.transition(transition, turns, await executionsOf(asked.runtime, session, transition, turns));
  };
  let messageId: string | null = null;
  for (const transition of before) {
    if (beginsMessage(transition)) messageId = messageIdOf(transition);
    await project(transition);
  }
  if (messageId !== null) yield { type: 'start', messageId };
  let waiting: RunResult | null = null;
  const over = new AbortController();
  const signal = AbortSignal.any([ends.signal, asked.request.signal, over.signal]);
  let seen = after;
  // The result may be known before everything was shown that was committed until then.
  let last = Number.POSITIVE_INFINITY;
  const endAtLast = (): void => {
    if (seen >= last) over.abort();
  };
  void settled
    ?.then(async (result) => {
      waiting = result;
      if (!result.queued && result.error === null) return;
      last = (await session.status()).version; // it does not begin now, or was refused
      endAtLast();
    })
    .catch(() => over.abort());
  for await (const followed of session.follow({ after, deltas: true, signal })) {
    if (followed.type === 'transition') {
      const { transition } = followed;
      seen = transition.sequence;
      endAtLast();
      if (runOf(transition) !== runId) continue;
      if (messageId === null && beginsMessage(transition)) {
        messageId = messageIdOf(transition);
        yield { type: 'start', messageId };
      }
      if (messageId === null) continue;
      yield* await project(transition);
      if (isResting(transition.to) && transition.sequence >= restsFrom) {
        yield* await endOf(asked, opened, projection, transition);
        return;
      }
    } else if (followed.runId === runId && messageId !== null) {
      yield* followed.type === 'delta' ? projection.delta(followed) : projection.voided();
    }
  }
  yield* endWithoutRest(waiting, runId, messageId);
}

async function endOf(
  asked: Asked,
  opened: Opened,
  projection: ChatProjection,
  { to, event, type }: StoredTransition,
): Promise<ChatChunk[]> {
  if (to === 'AWAITING_INPUT') {
    return [
      ...projection.asked(await waitingCalls(asked, opened)),
      ...projection.end(),
      { type: 'finish', finishReason: 'tool-calls' },
    ];
  }
  if (to === 'FAILED') {
    const errorText = reasonOf(String(event?.code ?? 'MODEL_FAILED'));
    return [...projection.end(), { type: 'error', errorText }, { type: 'finish', finishReason: 'error' }];
  }
  const ended = projection.end();
  if (type === 'run.cancelled') return [...ended, { type: 'abort', reason: 'The run was cancelled.' }];
  return [...ended, { type: 'finish', finishReason: 'stop' }];
}

function endWithoutRest(result: RunResult | null, runId: string, messageId: string | null): ChatChunk[] {
  if (result === null) return [];
  if (result.queued) {
    const start = messageId === null ? [{ type: 'start', messageId: runId } as const] : [];
    return [
      ...start,
      { type: 'data-queued', data: { runId }, transient: true },
      { type: 'finish', finishReason: 'other' },
    ];
  }
  return result.error === null ? [] : [{ type: 'error', errorText: reasonOf(result.error.code) }];
}

/** What a user may be told of why a run ended: its code, and what to do; a provider's own words are for the operator. */
function reasonOf(code: string): string {
  return `${code}: ${ERROR_CODES[code as ErrorCode]?.hint ?? 'The run ended.'}`;
}
