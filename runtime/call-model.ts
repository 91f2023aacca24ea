import type { ModelRequest, ModelResponse, ModelTurn } from '../adapters/models/model.contract.ts';
import type { FaultInfo } from '../environment.ts';
import { ERROR_CODES, isTurnlockError, TurnlockError } from '../errors.ts';
import type { Json, ModelCallContent, ModelTurnContent, TurnPart } from '../machines/event-content.ts';
import type { SessionEvent } from '../machines/session-event.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';
import { normaliseJson } from '../persistence/values/normalise-json.ts';
import { normaliseText } from '../persistence/values/normalise-text.ts';
import { AttemptDeltas } from './attempt-deltas.ts';
import { checkAnswer } from './check-answer.ts';
import type { GivenContext, RunContext } from './context/run-context.ts';
import type { DriveContext } from './drive-context.ts';
import { type MetLimit, mayNotAsk, mayNotCall } from './limits-of-run.ts';
import { makeInstructions } from './make-instructions.ts';
import { modelRetryInMs } from './model-retry.ts';
import { observeAsking } from './observe.ts';
import { planCalls } from './plan-calls.ts';
import { readOutput } from './read-output.ts';
import type { Spent } from './spent-in-run.ts';

/** What a model may be given: the turns of its session, and what fits them into the agent's budget. */
interface History {
  turns: ModelTurn[];
  context: RunContext;
}

/**
 * Asks the model once and says what happened as an event; `null` when the drive was aborted meanwhile.
 *
 * Holds no connection. A call that the model asked for counts only when the whole answer came.
 */
export async function callModel(
  drive: DriveContext,
  history: History,
  call: { runId: string; attempt: number; spent: Spent },
): Promise<SessionEvent | null> {
  const { runId, attempt, spent } = call;
  const limit = mayNotAsk(drive, spent);
  if (limit !== null) return met(runId, limit);
  const record = beginRecord(drive, history.turns, attempt);
  const started = drive.environment.monotonic();
  const sinceStart = () => Math.round(drive.environment.monotonic() - started);
  try {
    await drive.environment.faultPoint('beforeEffect', faultInfo(drive));
    if (drive.signal.aborted) return null;
    const response = await observeAsking(drive, attempt, (asked) =>
      ask(drive, history, { runId, attempt }, (request, given) => {
        Object.assign(record, shown(given));
        asked(request);
      }),
    );
    await drive.environment.faultPoint('afterEffect', faultInfo(drive));
    if (drive.signal.aborted) return null;
    return await inTime(drive, toEvent(drive, { runId, spent }, response, { ...record, latencyMs: sinceStart() }));
  } catch (thrown) {
    if (drive.signal.aborted) return null;
    return failedAttempt(drive, call, thrown, { ...record, latencyMs: sinceStart() });
  }
}

/** An answer is validated by user code: one that never ends must not hold the session for ever, nor the runtime's close. */
async function inTime(drive: DriveContext, event: Promise<SessionEvent>): Promise<SessionEvent> {
  const { environment, limits, signal } = drive;
  const over = new AbortController();
  event.catch(() => undefined);
  const bound = environment.sleep(limits.modelTimeoutMs, AbortSignal.any([over.signal, signal])).then(() => {
    throw new TurnlockError('MODEL_FAILED', {
      message: `answer was not validated in time: a schema of ${drive.agent.name} (found no end after ${limits.modelTimeoutMs} ms)`,
      retryable: false,
    });
  });
  bound.catch(() => undefined);
  try {
    return await Promise.race([event, bound]);
  } finally {
    over.abort();
  }
}

function faultInfo({ session }: DriveContext): FaultInfo {
  return { sessionId: session.sessionId, detail: 'model' };
}

function met(runId: string, { code, message }: MetLimit, modelCall?: ModelCallContent): SessionEvent {
  return { type: 'limit.met', runId, code, content: { message, ...(modelCall && { modelCall }) } };
}

function beginRecord(drive: DriveContext, turns: ModelTurn[], attempt: number): ModelCallContent {
  const { agent, environment } = drive;
  return {
    modelCallId: environment.uuid(),
    attempt,
    modelId: agent.model.modelId,
    agentVersion: agent.version,
    tools: [...agent.tools.values()].map((tool) => ({ name: tool.name, version: tool.version })),
    windowFrom: turns[0]?.turnIndex ?? 0,
    windowTo: turns.at(-1)?.turnIndex ?? 0,
    memories: [],
    startedAt: environment.now(),
    latencyMs: 0,
    usage: {},
    finishReason: null,
    providerRequestId: null,
    errorCode: null,
    errorMessage: null,
  };
}

/** What of the record says what the model was shown. */
function shown({ turns, windowFrom, memories }: GivenContext): Partial<ModelCallContent> {
  return { windowFrom, windowTo: turns.at(-1)?.turnIndex ?? 0, memories };
}

async function ask(
  drive: DriveContext,
  { turns, context }: History,
  call: { runId: string; attempt: number },
  tell: (request: ModelRequest, given: GivenContext) => void,
): Promise<ModelResponse> {
  const { agent, environment, limits, session, emit } = drive;
  const over = new AbortController();
  const timeout = new AbortController();
  const signal = AbortSignal.any([drive.signal, timeout.signal]);
  let isMakingInstructions = true;
  const timedOut = environment.sleep(limits.modelTimeoutMs, over.signal).then(() => {
    const error = notInTime(drive, isMakingInstructions);
    timeout.abort(error);
    throw error;
  });
  timedOut.catch(() => undefined);
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: over.signal });
  });
  aborted.catch(() => undefined);
  const { tenantId, userId, sessionId } = session;
  const tools = [...agent.tools.values()].map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputJsonSchema as Json,
  }));
  const outputSchema = agent.output === null ? {} : { outputSchema: agent.output.jsonSchema as Json };
  const asked = { tools, ...outputSchema, tenantId, userId, sessionId, ...call };
  const deltas = new AttemptDeltas(agent.model.modelId, ({ type, text }) => {
    if (!signal.aborted) emit({ type: 'delta', kind: type, text, ...call });
  });
  try {
    const answer = (async () => {
      await environment.faultPoint('insideEffect', faultInfo(drive));
      const instructions = await makeInstructions(drive, call.runId, signal);
      signal.throwIfAborted();
      isMakingInstructions = false;
      const given = context.give(instructions, turns);
      const request = { instructions: given.instructions, turns: given.turns, ...asked };
      tell(request, given);
      const response = await agent.model.generate(request, { signal, emit: deltas.emit });
      deltas.check();
      return response;
    })();
    answer.catch(() => undefined);
    return checkAnswer(await Promise.race([answer, timedOut, aborted]), agent.model.modelId);
  } finally {
    deltas.end();
    over.abort();
  }
}

/** The error of an attempt whose time is over, which names whom it waited for. */
function notInTime({ agent, limits }: DriveContext, isMakingInstructions: boolean): TurnlockError {
  const found = `(found nothing after ${limits.modelTimeoutMs} ms)`;
  return isMakingInstructions
    ? new TurnlockError('INSTRUCTIONS_FAILED', {
        message: `instructions were not made in time: agent ${JSON.stringify(agent.name)} ${found}`,
      })
    : new TurnlockError('MODEL_FAILED', {
        message: `model did not answer in time: ${agent.model.modelId} ${found}`,
      });
}

async function toEvent(
  drive: DriveContext,
  { runId, spent }: { runId: string; spent: Spent },
  response: ModelResponse,
  record: ModelCallContent,
): Promise<SessionEvent> {
  const { limits } = drive;
  const toolCalls = response.toolCalls ?? [];
  const modelCall: ModelCallContent = {
    ...record,
    usage: usageOf(drive, response),
    finishReason: shortText(response.finishReason, 64),
    providerRequestId: shortText(response.providerRequestId, 255),
  };
  const limit = mayNotCall(limits, spent, toolCalls.length, modelCall.usage);
  if (limit !== null) return met(runId, limit, modelCall);
  const content = contentOf(drive, response, modelCall);
  if (toolCalls.length === 0) return replied(drive, runId, content);
  const plan = await planCalls(drive, toolCalls);
  const { parts, notes } = withCalls(drive, content.parts, plan.parts);
  const normalised = [...(content.normalised ?? []), ...notes];
  return {
    type: 'model.calledTools',
    runId,
    calls: plan.calls,
    content: { ...content, parts, normalised: normalised.length > 0 ? normalised : null },
  };
}

/** A reply that is what the agent's sessions come to is final. Its output stands with the turn, or the reason why it has none. */
async function replied(drive: DriveContext, runId: string, content: ModelTurnContent): Promise<SessionEvent> {
  const { agent, limits } = drive;
  if (agent.output === null) return { type: 'model.replied', runId, final: false, content };
  const read = await readOutput(agent.output, content.text, limits);
  if ('refused' in read) {
    const metadata = { outputRefused: read.refused };
    return { type: 'model.replied', runId, final: false, content: { ...content, metadata } };
  }
  const notes = [...(content.normalised ?? []), ...read.notes];
  const normalised = notes.length > 0 ? notes : null;
  const metadata = { output: read.output };
  return { type: 'model.replied', runId, final: true, content: { ...content, metadata, normalised } };
}

/** What a provider says of itself: kept as far as its column holds it. */
function shortText(text: unknown, maxCharacters: number): string | null {
  if (typeof text !== 'string') return null;
  const { value } = normaliseText(text, { maxBytes: 4096, name: 'text' }, 'truncate');
  return [...value].slice(0, maxCharacters).join('');
}

function usageOf({ limits }: DriveContext, response: ModelResponse): ModelCallContent['usage'] {
  const counts = Object.entries(response.usage ?? {}).filter(([, count]) => count !== null);
  const { value } = normaliseJson(Object.fromEntries(counts), {
    maxBytes: limits.maxMetadataBytes,
    maxDepth: limits.maxDepth,
    name: 'usage',
  });
  return value as ModelCallContent['usage'];
}

function contentOf({ limits }: DriveContext, response: ModelResponse, modelCall: ModelCallContent): ModelTurnContent {
  const maxBytes = limits.maxReplyBytes;
  const text = normaliseText(response.text ?? '', { maxBytes, name: 'reply' });
  const given = response.parts ?? (text.value === '' ? [] : [{ type: 'text', text: text.value }]);
  const parts = normaliseJson(given, { maxBytes, maxDepth: limits.maxDepth, name: 'parts' });
  const notes = [...text.notes, ...parts.notes];
  return {
    text: text.value,
    parts: parts.value as TurnPart[],
    usage: modelCall.usage,
    metadata: {},
    normalised: notes.length > 0 ? notes : null,
    modelCall,
  };
}

/** The parts of an answer with its calls. Each call's input stands two levels down in them, and may itself be as deep as any. */
function withCalls({ limits }: DriveContext, parts: TurnPart[], calls: TurnPart[]) {
  const bounds = { maxBytes: limits.maxReplyBytes, maxDepth: limits.maxDepth + 2, name: 'parts' };
  const { value, notes } = normaliseJson([...parts, ...calls], bounds);
  return { parts: value as TurnPart[], notes };
}

function failedAttempt(
  drive: DriveContext,
  { runId, attempt }: { runId: string; attempt: number },
  thrown: unknown,
  record: ModelCallContent,
): SessionEvent {
  const { limits } = drive;
  const { message } = normaliseError(thrown, limits);
  const errorCode = isTurnlockError(thrown) && Object.hasOwn(ERROR_CODES, thrown.code) ? thrown.code : 'MODEL_FAILED';
  const content = { message, modelCall: { ...record, errorCode, errorMessage: message } };
  const hopeless = isTurnlockError(thrown) && !thrown.retryable;
  if (hopeless || attempt >= limits.maxModelAttempts) {
    return { type: 'model.failed', runId, code: errorCode, content };
  }
  return { type: 'model.attemptFailed', runId, retryInMs: modelRetryInMs(drive, attempt, thrown), content };
}
