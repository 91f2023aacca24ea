import type { ModelRequest, ModelResponse } from '../adapters/models/model.contract.ts';
import type { ToolCallEnd } from '../adapters/telemetry/telemetry.contract.ts';
import { isTurnlockError } from '../errors.ts';
import type { OutcomeContent, UserTurnContent } from '../machines/event-content.ts';
import type { CommitResult } from '../persistence/commit-request.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import { presentParams } from '../persistence/present-params.ts';
import { readRunMetadata } from '../persistence/read-run-metadata.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import type { DriveContext } from './drive-context.ts';
import { observed } from './observed-commit.ts';
import type { Services } from './services.ts';
import { readCarrier } from './unfailing-telemetry.ts';

/** Sends a message: `send` is given its content with what names its trace, unless the caller named one. */
export async function observeSending<Result>(
  { signals }: Services,
  session: CommittedSession,
  content: UserTurnContent,
  send: (content: UserTurnContent) => Promise<Result>,
): Promise<Result> {
  const sending = signals.telemetry?.sending(observed(session));
  if (sending === undefined) return send(content);
  const isTraced = readCarrier(content.metadata) !== null;
  const metadata = isTraced ? content.metadata : { ...sending.carrier(), ...content.metadata };
  return ended(
    () => sending.run(() => send({ ...content, metadata })),
    (_, errorCode) => sending.end({ errorCode }),
  );
}

/** Drives a run to its end in this process, under the eyes of the host. */
export async function observeRun(
  services: Services,
  drive: DriveContext,
  { begin, isByCaller }: { begin: CommitResult; isByCaller: boolean },
  work: () => Promise<CommitResult | null>,
): Promise<CommitResult | null> {
  const { signals, store } = services;
  const { session, transition } = begin;
  const facts = { ...observed(session), runId: session.snapshot.context.runId ?? '' };
  const began = transition.event.type === 'user.messaged' || transition.event.type === 'session.retried';
  signals.log(began ? 'run.began' : 'run.continued', facts);
  const since = store.environment.monotonic();
  const watch = signals.telemetry?.run({
    ...facts,
    carrier: await carrierOf(services, begin, facts.runId),
    begunBy: transition.event.type,
    token: session.token,
    isByCaller,
  });
  drive.watch = watch ?? null;
  return ended(
    () => watch?.run(work) ?? work(),
    (last, thrownCode) => {
      const state = last?.session.state ?? null;
      const code = last?.transition.event.code;
      const errorCode = state === 'FAILED' && typeof code === 'string' ? code : thrownCode;
      watch?.end({ state, errorCode });
      const durationMs = Math.round(store.environment.monotonic() - since);
      const isBroken = thrownCode !== null && thrownCode !== 'TOKEN_STALE';
      const event = isBroken ? 'run.broke' : state === null ? 'run.leftToOthers' : 'run.rested';
      signals.log(event, { ...facts, state, durationMs, code: errorCode });
    },
  );
}

/** What was stored with the message that began the run; nothing where it cannot be read. */
async function carrierOf({ signals, store }: Services, begin: CommitResult, runId: string) {
  if (signals.telemetry === null) return null;
  const { session, transition, turns } = begin;
  const isFirst = transition.event.type === 'user.messaged' && transition.from === 'IDLE';
  const here = isFirst ? turns.find(({ role }) => role === 'user') : undefined;
  if (here !== undefined) return readCarrier(here.metadata);
  return readCarrier(await readRunMetadata(store, session, runId, store.limits.leaseMs).catch(() => null));
}

/** Asks a model once. `ask` tells what it asks, right before it does. */
export async function observeAsking(
  { watch, agent, signal }: DriveContext,
  attempt: number,
  ask: (asked: (request: ModelRequest) => void) => Promise<ModelResponse>,
): Promise<ModelResponse> {
  if (watch == null) return ask(() => undefined);
  const { modelId, provider = null } = agent.model;
  const outputType = agent.output === null ? 'text' : 'json';
  const asking = watch.modelCall({ modelId, provider, attempt, outputType });
  return ended(
    () => asking.run(() => ask((request) => asking.asked(request))),
    (response, thrownCode) => {
      const errorCode = thrownCode === null ? null : (stoppedBy(signal) ?? thrownCode);
      asking.end({ response, usage: response?.usage ?? {}, errorCode });
    },
    'MODEL_FAILED',
  );
}

/** How an attempt of a tool ended, in whatever form. */
type AnyEnd = { type?: ToolCallEnd['outcome']; outcome?: string; retryInMs?: number | null; content?: OutcomeContent };

/** Runs an attempt of a tool. */
export async function observeAttempt<End extends AnyEnd>(
  { watch, agent, signal }: DriveContext,
  execution: ExecutionRow,
  run: () => Promise<End>,
): Promise<End> {
  if (watch == null) return run();
  const tool = agent.tools.get(execution.toolName);
  const { executionId, toolName, toolVersion, effect, attempt, providerCallId } = execution;
  const { params } = presentParams(execution);
  const description = tool?.description ?? null;
  const call = { executionId, toolName, toolVersion, description, effect, attempt, providerCallId, params };
  const work = watch.toolCall(call);
  return ended(
    () => work.run(run),
    (end, thrownCode) => work.end(end === null ? { outcome: 'abandoned', errorCode: thrownCode } : toEnd(end, signal)),
  );
}

function toEnd(end: AnyEnd, signal: AbortSignal): ToolCallEnd {
  const acted = end.outcome === 'failed' && end.retryInMs != null ? 'attemptFailed' : end.outcome;
  const outcome = end.type ?? (acted as ToolCallEnd['outcome']);
  const said = end.content?.error?.code ?? null;
  if (outcome === 'succeeded') return { outcome, errorCode: null, output: end.content?.output ?? null };
  if (outcome === 'abandoned') return { outcome, errorCode: stoppedBy(signal) ?? 'RUNTIME_CLOSED' };
  return { outcome, errorCode: said ?? (outcome === 'timedOut' ? 'TOOL_TIMED_OUT' : 'TOOL_FAILED') };
}

/** Code of what stopped a drive; `null` where nothing did. */
function stoppedBy(signal: AbortSignal): string | null {
  if (!signal.aborted) return null;
  return isTurnlockError(signal.reason) ? signal.reason.code : 'RUNTIME_CLOSED';
}

/** Does `work` and tells `end` what came of it: its result, or the code of what it threw. */
async function ended<Result>(
  work: () => Promise<Result>,
  end: (result: Result | null, thrownCode: string | null) => void,
  otherwise = 'INVARIANT_BROKEN',
): Promise<Result> {
  let result: Result;
  try {
    result = await work();
  } catch (error) {
    end(null, isTurnlockError(error) ? error.code : otherwise);
    throw error;
  }
  end(result, null);
  return result;
}
