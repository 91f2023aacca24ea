import type { Model } from '../../adapters/models/model.contract.ts';
import { isTurnlockError, type TurnlockError } from '../../errors.ts';
import type { CommittedSession } from '../../persistence/committed-session.ts';
import { summaryEventId, summaryMemoryId } from '../../persistence/keys/summary-ids.ts';
import { continueTask } from '../../persistence/memory/continue-task.ts';
import {
  claimMemoryTasks,
  failTask,
  finishTask,
  type MemoryTask,
  oweSummary,
} from '../../persistence/memory/memory-tasks.ts';
import type { NewMemory } from '../../persistence/memory/new-memory.ts';
import { readSummary, type SessionSummaryText } from '../../persistence/memory/read-summary.ts';
import { releaseTask } from '../../persistence/memory/release-task.ts';
import { inPatientTransaction } from '../../persistence/patient-transaction.ts';
import type { SessionKey } from '../../persistence/read-session.ts';
import { readSession } from '../../persistence/read-session-by-key.ts';
import { readSpan } from '../../persistence/read-span.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { BYTES_PER_TOKEN } from '../context/run-context.ts';
import { toModelTurns } from '../model-turns.ts';
import type { Services } from '../services.ts';
import { askForSummary } from './ask-for-summary.ts';
import { summaryRequest } from './summary-request.ts';

/** A claimed task of a session. */
type SummaryTask = Extract<MemoryTask, { kind: 'summarise' }>;

/** Tasks that one look claims. */
const BATCH = 2;

/**
 * Writes the summaries that are owed: in background, from rows, by whatever process claims the task. Nothing waits for it, and no run does.
 *
 * - A task that is claimed and not finished, since its process died, is claimed again once its time is over; while the model is asked no
 *   connection is held.
 * - A summary is one commit of its session: it takes the place of the one before. Two processes at one task name the same event, so one of
 *   them stores it.
 * - A model that fails, or says nothing, costs an attempt; the next one waits longer. When the runtime closes the task is given back.
 */
export class Summariser {
  #sweeping: Promise<void> | null = null;

  /** Notes that a session is to be summarised, and begins where this process may. Never rejects: what is not noted is noted by the next run. */
  async owe(services: Services, { tenantId, sessionId }: SessionKey, upToTurn: number): Promise<void> {
    const { store, drives } = services;
    await guarded(services, async () => {
      const owed = await inPatientTransaction(store, { tenantId }, (em) =>
        oweSummary(em, { tenantId, sessionId }, upToTurn),
      );
      // Again where there was no room for all of it, or more was owed meanwhile: then it is due at once.
      while (drives && (await claim(services, [owed.taskId])) > 0);
    });
  }

  /** Does what any process owes, until nothing is due or the services close. One look at a time; never rejects. */
  sweep(services: Services): Promise<void> {
    this.#sweeping ??= guarded(services, async () => {
      while (!services.closing.aborted && (await claim(services)) > 0);
    }).finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  /** Resolves when no sweep is under way. */
  async swept(): Promise<void> {
    await this.#sweeping;
  }
}

/** How many tasks were claimed, and done or failed. */
async function claim(services: Services, taskIds?: readonly string[]): Promise<number> {
  const { store, agents, closing } = services;
  const known = [...agents.values()].filter(({ context }) => context != null).map(({ name }) => name);
  if (closing.aborted || known.length === 0) return 0;
  const leaseMs = store.limits.modelTimeoutMs + store.limits.leaseMs;
  const which = taskIds === undefined ? {} : { taskIds };
  const tasks = await claimMemoryTasks(store, { max: BATCH, kinds: ['summarise'], agents: known, leaseMs, ...which });
  await Promise.all(tasks.map((task) => attend(services, task as SummaryTask)));
  return tasks.length;
}

async function attend(services: Services, task: SummaryTask): Promise<void> {
  const { store, closing } = services;
  try {
    // Each step is a claim of its own: a long way is not begun anew because the time of its first step is over.
    if ((await summarise(services, task)) < task.upToTurn) await continueTask(store, task);
    else await finish(store, task);
  } catch (error) {
    if (closing.aborted) await releaseTask(store, task);
    else if (isGone(error)) await finish(store, task);
    else await failed(services, task, error);
  }
}

async function finish(store: Store, task: SummaryTask): Promise<void> {
  await inPatientTransaction(store, { tenantId: task.tenantId }, (em) => finishTask(em, task));
}

/** One summary, of as much of what is owed as there is room for. Returns the last turn that is told of then. */
async function summarise(services: Services, task: SummaryTask): Promise<number> {
  const { store, agents, counters, closing } = services;
  const { environment } = store;
  const { session } = await readSession(store, task);
  const { context, model: own } = agents.get(session.agentName) ?? { context: null };
  const countTokens = counters.get(session.agentName);
  const previous = await readSummary(store, task);
  const covered = previous?.coversToTurn ?? -1;
  if (covered >= task.upToTurn || context == null || countTokens === undefined) return task.upToTurn;
  const maxBytes = context.maxTokens * BYTES_PER_TOKEN;
  const turns = toModelTurns(await readSpan(store, task, { after: covered, upToTurn: task.upToTurn, maxBytes }));
  const request = summaryRequest(context, { previous: previous?.content ?? null, turns }, countTokens);
  if (request === null) return task.upToTurn;
  const { coversToTurn } = request;
  const model = context.summaryModel ?? (own as Model);
  const began = environment.monotonic();
  const asked = { session, taskId: task.taskId, attempt: task.attempts, request, model, countTokens };
  const { text, tokens } = await askForSummary(store, asked, closing);
  const metadata = { modelId: model.modelId, turns: coversToTurn - covered, tokens };
  const isStored = await keep(services, task, { session, previous, text, coversToTurn, metadata });
  if (!isStored) {
    // Another process at the same task was quicker, and has told of a part at least.
    const stored = (await readSummary(store, task))?.coversToTurn ?? -1;
    // Or its summary was forgotten since: the next run owes one anew.
    return stored > covered ? stored : task.upToTurn;
  }
  const { tenantId, sessionId } = task;
  const durationMs = Math.round(environment.monotonic() - began);
  const { agentName } = session;
  services.signals.log('memory.summarised', { tenantId, sessionId, agentName, coversToTurn, tokens, durationMs });
  return coversToTurn;
}

/** Whether the summary was stored now. */
async function keep(services: Services, task: SummaryTask, made: MadeSummary): Promise<boolean> {
  const { session, previous, text, coversToTurn, metadata } = made;
  const { tenantId, sessionId } = task;
  const place = { taskId: task.taskId, previous: previous?.memoryId ?? null };
  const memory: NewMemory = {
    memoryId: summaryMemoryId(place),
    kind: 'summary',
    content: text,
    language: services.memory.language,
    metadata,
    normalised: null,
    expiresAt: null,
    supersedes: previous?.isOwn === true ? [previous.memoryId] : [],
    turnId: null,
    coversToTurn,
  };
  const { repeated } = await services.live.use(services, session, (actor) =>
    actor.commit({
      tenantId,
      sessionId,
      eventId: summaryEventId(place),
      cause: 'worker',
      event: { type: 'memory.stored', memoryIds: [memory.memoryId] },
      claim: { type: 'none' },
      memories: [memory],
    }),
  );
  return !repeated;
}

async function failed({ store, signals }: Services, task: SummaryTask, error: unknown): Promise<void> {
  const code = isTurnlockError(error) ? error.code : 'MODEL_FAILED';
  const which = `session ${task.sessionId}, attempt ${task.attempts}`;
  signals.warn({
    code: 'SUMMARY_FAILED',
    message: `A summary could not be written and is tried again: ${which}: ${code}`,
  });
  await failTask(store, task, code);
}

async function guarded({ signals, closing }: Services, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (closing.aborted) return;
    const code = isTurnlockError(error) ? error.code : 'INVARIANT_BROKEN';
    signals.warn({ code: 'SUMMARIES_NOT_READ', message: `What is to be summarised could not be looked at: ${code}` });
  }
}

/** A summary before it is stored. */
interface MadeSummary {
  session: CommittedSession;
  previous: SessionSummaryText | null;
  text: string;
  coversToTurn: number;
  metadata: { [name: string]: string | number };
}

/** A session that is gone, or has ended for good: nobody asks a model about it any more. */
function isGone(error: unknown): error is TurnlockError {
  return isTurnlockError(error, 'SESSION_NOT_FOUND') || isTurnlockError(error, 'EVENT_ILLEGAL');
}
