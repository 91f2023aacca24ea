import type { Telemetry } from '../adapters/telemetry/telemetry.contract.ts';
import { type Environment, systemEnvironment } from '../environment.ts';
import { TurnlockError } from '../errors.ts';
import { type Limits, resolveLimits } from '../limits.ts';
import type { DatabaseAdapter } from '../persistence/database.contract.ts';
import { freeDeadLeases } from '../persistence/free-dead-leases.ts';
import { type Awaiting, listAwaiting } from '../persistence/list-awaiting.ts';
import { listSessions, type SessionSummary } from '../persistence/list-sessions.ts';
import type { VectorStore } from '../persistence/memory/embedding-rows.ts';
import { checkSchema, migrate } from '../persistence/migrate.ts';
import type { Store } from '../persistence/session-transaction.ts';
import { toTurnlockError } from '../persistence/sqlstate.ts';
import { recordToolSchemas } from '../persistence/tool-schemas.ts';
import { Announcer, type OnAwaiting } from './announcer.ts';
import { checkAgents } from './check-agents.ts';
import { checkOptions } from './check-options.ts';
import {
  type AwaitingOptions,
  checkAwaiting,
  checkSessionKey,
  checkSessions,
  checkTenant,
  type SessionsOptions,
} from './check-query.ts';
import { checkRuntimeOptions } from './check-runtime-options.ts';
import { countersOf } from './context/counters-of.ts';
import { type BatchAnswer, type BatchDecision, decideBatch } from './decide.ts';
import type { Agent } from './define-agent.ts';
import { checkDoctor, type DoctorOptions } from './doctor/check-doctor.ts';
import { type DoctorReport, examine } from './doctor/doctor.ts';
import { type EraseUserOptions, type Erasure, eraseUser } from './erase-user.ts';
import { explainSession } from './explain/explain-session.ts';
import type { Explanation } from './explain/explanation.ts';
import { EvidenceKeeper } from './keep-evidence.ts';
import { LiveSessions } from './live-sessions.ts';
import type { Log } from './log.ts';
import { checkOwner } from './memory/check-memory.ts';
import { Memory } from './memory/memory-handle.ts';
import { checkMemoryOptions, type MemoryOptions } from './memory/memory-options.ts';
import { openVectors } from './memory/open-vectors.ts';
import { VectorWork } from './memory/vector-work.ts';
import { emitWarning, unfailing } from './on-warning.ts';
import {
  createNewSession,
  type NewSessionOptions,
  openOrCreate,
  openSession,
  type SessionActorInput,
  type SessionReference,
} from './open-session.ts';
import { Operations } from './operations.ts';
import { type Recovery, recoverSessions } from './recover.ts';
import { checkPolicies, type RetainOptions, type Retention, type RetentionPolicy, retain } from './retain.ts';
import { schemasOf } from './schemas-of.ts';
import { buildOf, checkOpen, operate, type Services } from './services.ts';
import { noteServices } from './services-of.ts';
import { type SessionLogic, sessionLogic } from './session-actor.ts';
import type { Session } from './session-handle.ts';
import { createSignals } from './signals.ts';
import { Summariser } from './summaries/summariser.ts';
import { WorkerControl, type WorkerOptions } from './worker-control.ts';
import type { DeltaChannel } from './working-state/delta-channel.contract.ts';
import { inProcessDeltas } from './working-state/in-process-deltas.ts';
import { usedChannel } from './working-state/used-channel.ts';

/** What `createRuntime` takes. */
export interface RuntimeOptions<Agents extends readonly Agent[] = readonly Agent[]> {
  /** `pglite(directory)` or `postgres(url)`. */
  database: DatabaseAdapter;
  /** The agents of this build. A session is only continued where its agent is known. */
  agents: Agents;
  /** `auto`: bring the schema up to date first; `check`: refuse to start with another one. Default: `auto` on PGlite, else `check`. */
  migrate?: 'auto' | 'check';
  /**
   * Whether `send`, `settle`, `retry`, `resume` and `result` of this runtime drive runs in this process. `false`: they leave that to workers
   * elsewhere, which are told by NOTIFY. Default true. A worker of this runtime drives what it claims in any case.
   */
  drive?: boolean;
  /** Bounds that differ from the defaults. */
  limits?: Partial<Limits>;
  /**
   * Told, at start, of facts about the server that weaken a promise, and later of what a worker cannot do for the time being, of hooks that
   * fail, and of a tool's result that is lost since the database did not come back before the runtime closed (EVIDENCE_LOST). Default:
   * `process.emitWarning`, or `log` where there is one.
   */
  onWarning?: (warning: { code: string; message: string }) => void;
  /**
   * Told of each round of asking a person: a call that waits for approval, a question of an agent, an unknown outcome. Called after the
   * commit, by the process that made it, else by any worker: at least once per round, so a receiver drops what it has seen by `approvalId`.
   * Where it throws, rejects or takes longer than `limits.hookTimeoutMs` it is told again, later and later, and `onWarning` hears of it. Default: nobody is told.
   */
  onAwaiting?: OnAwaiting;
  /** Spans and metrics: `openTelemetry()` of `turnlock/telemetry`, or your own. What it throws changes nothing and is a warning, once. Default: none. */
  telemetry?: Telemetry;
  /**
   * Told of each event of {@link LOG_EVENTS}, warnings included, as one structured entry, at once: hand it to the logger that you have. Never
   * contents. What it throws changes nothing and is a warning, once. Default: nothing is logged.
   */
  log?: Log;
  /**
   * Carries what models write to the processes that follow a session, where those are others than the one that drives it. It holds what users
   * may read, and nothing depends on it: where it fails `onWarning` is told once (DELTAS_FAILED). Default: `inProcessDeltas()`, this runtime alone.
   */
  deltas?: DeltaChannel;
  /** What `retain` removes where it is not told otherwise. Nothing is removed by itself. Default: nothing. */
  retention?: readonly RetentionPolicy[];
  /** By what memories are found. Default: by text alone, words as they are written. */
  memory?: MemoryOptions;
  /** Clock, ids, chance and fault points. For tests. */
  environment?: Environment;
}

/** What the sessions of one of `Agents` come to. */
export type OutputOf<Agents extends readonly Agent[], Name extends string = string> = Agents[number] extends infer One
  ? One extends Agent<infer Output, infer Own>
    ? Name extends Own
      ? Output
      : Own extends Name
        ? Output
        : never
    : never
  : never;

/** A runtime: agents and a database. Made by {@link createRuntime}, which knows of each agent what its sessions come to. */
export interface Runtime<Agents extends readonly Agent[] = readonly Agent[]> extends AsyncDisposable {
  /**
   * Creates a session, IDLE and durable once this resolves; with an `externalId` that the tenant has used, the session of then, also when
   * two processes create it in the same instant. Without an `externalId` every call makes another one.
   *
   * @throws AGENT_UNKNOWN when the runtime was not given the agent. EXTERNAL_ID_CONFLICT when another agent or user has the external id.
   * @throws VALUE_INVALID, VALUE_TOO_LARGE when an id or the metadata cannot be stored. OPTIONS_INVALID. RUNTIME_CLOSED,
   * DATABASE_UNREACHABLE.
   */
  createSession<Name extends Agents[number]['name']>(
    options: NewSessionOptions<Name>,
  ): Promise<Session<OutputOf<Agents, Name>>>;
  /**
   * Opens an existing session, also one whose agent this runtime does not know: it can be read, cancelled and completed.
   *
   * @throws SESSION_NOT_FOUND, also for a session of another tenant. VALUE_INVALID for an id that none can have. RUNTIME_CLOSED,
   * DATABASE_UNREACHABLE.
   */
  session(reference: SessionReference): Promise<Session<OutputOf<Agents>>>;
  /**
   * What a session waits for and what unblocks it, as {@link Session.explain}; also one that this build cannot open.
   *
   * @throws SESSION_NOT_FOUND, also for a session of another tenant. VALUE_INVALID for an id that none can have. RUNTIME_CLOSED,
   * DATABASE_UNREACHABLE.
   */
  explain(key: { tenantId: string; sessionId: string }): Promise<Explanation>;
  /**
   * Looks for what is not as it must be: in the database (schema, settings, clocks), and in one session, those of a tenant, or all: their
   * audit, history, executions, leases, rounds, business keys, and work that is owed with nobody at it. It reads, in short transactions, takes
   * no lock and repairs nothing; each finding says what does.
   *
   * @throws OPTIONS_INVALID, VALUE_INVALID. SESSION_NOT_FOUND. PRIVILEGE_MISSING when the role may not look across tenants. RUNTIME_CLOSED,
   * DATABASE_UNREACHABLE.
   */
  doctor(options?: DoctorOptions): Promise<DoctorReport>;
  /**
   * The sessions of one tenant that fit, last changed first: by state, user, agent, external id, metadata that they hold, one of their
   * executions or its key, a run, or the caller's id of a message; with `stranded: true`, those that this runtime leaves alone because a newer
   * build has gone on with them; with `forkOf`, the forks of that session.
   *
   * @throws OPTIONS_INVALID for an option that is not accepted, VALUE_INVALID for what no tenant or session can have. RUNTIME_CLOSED,
   * DATABASE_UNREACHABLE.
   */
  sessions(query: SessionsOptions): Promise<SessionSummary[]>;
  /**
   * What people are asked in one tenant: calls that wait for approval, questions of agents to their users, and unknown outcomes, those that
   * were asked first first, those of one reply in the order of its calls. From rows, so it shows what was committed and nothing that was decided. `limit`: a whole number from 1 to 1000,
   * default 50; `after`: the `approvalId` of the last one of the page before.
   *
   * @throws OPTIONS_INVALID, VALUE_INVALID, RUNTIME_CLOSED, DATABASE_UNREACHABLE.
   */
  awaiting(query: AwaitingOptions): Promise<Awaiting[]>;
  /**
   * Takes up to 1000 decisions of one tenant, each for itself and in order, and answers each by its execution's id: what is unknown,
   * decided already or refused otherwise harms no other one. Sessions that can go on are driven on.
   *
   * @throws OPTIONS_INVALID for what is no array. VALUE_INVALID for an id that no tenant can have. RUNTIME_CLOSED.
   */
  decide(batch: { tenantId: string; decisions: readonly BatchDecision[] }): Promise<BatchAnswer[]>;
  /**
   * What the agents of one user remember: `remember`, `recall`, `forget`, `list`. Both ids are required, and there is no way from one user's
   * memories to another's. Nothing is read before one of its methods is called.
   *
   * @throws VALUE_INVALID, VALUE_TOO_LARGE for an id that no tenant or user can have. OPTIONS_INVALID, RUNTIME_CLOSED.
   */
  memory(owner: { tenantId: string; userId: string }): Memory;
  /**
   * Logic of XState for sessions: `invoke` or `spawn` it from a machine of your own, or give it to `createActor`. Its input names a session
   * (`{ tenantId, sessionId }` or `{ tenantId, externalId }`), or holds what makes one: the options of `createSession`, whose `externalId` is
   * required, so that a restored actor finds its session again.
   *
   * With a `message: { text, messageId }` in the input the actor sends it and is done when its run has ended, however it ended; its output is
   * the run's result. Without, it is done when the session is COMPLETED. While a person is asked it is active, and its snapshot has `awaiting`.
   * Its persisted snapshot is JSON; restored, in this process or another one after a crash, nothing is sent, run or answered twice.
   *
   * The actor fails where its session cannot be opened or its message is refused, with the error that `session`, `createSession` or `send` throws.
   */
  sessionLogic(): SessionLogic<SessionActorInput>;
  /**
   * Takes over every session, of any tenant, that owes work and has no live lease, and drives it to rest: one line for each, in no
   * order. Sessions whose process is alive are left alone, and so are those whose agent this runtime does not have, or that a newer build has gone on with. Resolves
   * when they rest, so not before the deadlines of their calls that may not be repeated. Safe to call at any time, from many processes.
   * A worker does it by itself: see `start`.
   *
   * @throws RUNTIME_CLOSED, DATABASE_UNREACHABLE.
   */
  recover(): Promise<Recovery[]>;
  /**
   * Removes sessions that are older than the policies say, each with all its rows, and business keys whose sessions are gone for longer than
   * `claimsOlderThanMs`. Only sessions at rest that owe nothing and of whose family nobody is at work; never a part of one. Small transactions
   * that wait for no commit: what somebody holds is kept for the next time. A message that comes meanwhile is first, or finds no session.
   * Interrupted, it may be run again. Needs a role with the rights of `turnlock_operator`; each removal is recorded.
   *
   * @throws OPTIONS_INVALID for an option that is not accepted, or where there is no policy. VALUE_INVALID for an id that no tenant can have.
   * @throws PRIVILEGE_MISSING, RUNTIME_CLOSED, DATABASE_UNREACHABLE.
   */
  retain(options?: RetainOptions): Promise<Retention>;
  /**
   * Erases what one user said and what was said of it, in every session of the user and in those that came of them as children and forks,
   * in memories and in the outputs that business keys remember. The sessions are ended first; a run that is under way is left, unless
   * `cancelRuns`. Ids, states, times, counts, digests and keys stay, user and external id do not; the chain of each session still verifies, and
   * says that it was erased. Small transactions; interrupted, it may be run again, and goes on with what is left. Needs a role with the rights
   * of `turnlock_operator`, and those of the service where sessions are to be ended.
   *
   * @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE, PRIVILEGE_MISSING, RUNTIME_CLOSED, DATABASE_UNREACHABLE, COMMIT_UNKNOWN; repeating
   * it does no harm.
   */
  eraseUser(options: EraseUserOptions): Promise<Erasure>;
  /**
   * Makes this process a worker: from now on it finds sessions of any tenant that owe work and have no live lease, takes each over and
   * drives it to rest, until `stop` or `close`. It looks every `limits.sweepMs`, and at once where the database says so (`listen` of
   * `postgres`). Sessions whose agent this build does not have, or that a newer build has gone on with, are left alone. Runs that `send` drives do not count.
   *
   * Resolves at once: the database need not be there yet, nor stay; while it is away the worker tries again, and `onWarning` is told.
   * Calling it while the worker runs changes nothing. It installs no signal handlers.
   *
   * @throws OPTIONS_INVALID for an option that is not accepted, or is another one than that of the worker that runs. RUNTIME_CLOSED.
   */
  start(options?: WorkerOptions): Promise<void>;
  /**
   * Ends the worker, without loss: it takes nothing over any more, stops its model calls, lets the tools that are out come to their end
   * and commits their results, and gives the leases back, so that another worker goes on at once. Resolves when that is done; everything
   * else works on, and `start` begins anew. Without a worker it does nothing.
   */
  stop(): Promise<void>;
  /**
   * Ends the worker, begins nothing new, stops model calls, lets the tools that are out come to their end and commits their results, gives
   * leases back and closes what the runtime opened. A pool, MikroORM or PGlite that was handed in stays open. Runs that do not rest by
   * then are for a worker, or `recover`, of another runtime. Calling it again does nothing; `await using` calls it.
   */
  close(): Promise<void>;
}

/**
 * Opens the database, brings or checks its schema, and returns the runtime. It drives nothing by itself: `start` makes it a
 * worker, which goes on with what other processes left; `recover` does so once.
 *
 * @throws OPTIONS_INVALID when an option or a limit is not of its kind.
 * @throws DATABASE_UNREACHABLE, DATABASE_LOGIN_REFUSED, DATABASE_UNSUPPORTED when there is no server of use at the other end.
 * @throws DATA_DIRECTORY_IN_USE, DATA_DIRECTORY_INVALID for a directory that PGlite must not open.
 * @throws SCHEMA_MISSING, SCHEMA_OUTDATED, SCHEMA_TOO_NEW when the schema does not fit, PRIVILEGE_MISSING when the role may not look or
 * migrate.
 * @throws EMBEDDING_MISMATCH when vectors of another model are kept than the embedder of `memory` makes.
 * @throws TOOL_SCHEMA_CHANGED when a tool has another input schema than a build before this one had under the same version. In each case
 * what was opened is closed again.
 *
 * @example
 * await using runtime = await createRuntime({ database: pglite('.turnlock'), agents: [support] });
 * const session = await runtime.createSession({ agent: 'support', tenantId: 'acme', userId: 'ana' });
 * const { reply } = await (await session.send('Refund order 42')).result();
 */
export async function createRuntime<const Agents extends readonly Agent[]>(
  options: RuntimeOptions<Agents>,
): Promise<Runtime<Agents>> {
  const { database: adapter, agents: given, drive = true, onAwaiting } = checkRuntimeOptions(options);
  const agents = checkAgents(given);
  const remembering = checkMemoryOptions(options.memory ?? {});
  const rules = checkPolicies(options.retention ?? []);
  const limits = resolveLimits(options.limits);
  const environment = options.environment ?? systemEnvironment;
  const counters = await countersOf(agents);
  const { telemetry, log } = options;
  const warn = unfailing(options.onWarning ?? emitWarning);
  const onWarning = options.onWarning == null && log != null ? () => undefined : warn;
  const signals = createSignals({ telemetry, log, environment, onWarning, onLogFailed: warn });
  const database = await adapter.connect({ environment, limits, onWarning: signals.warn }).catch((error: unknown) => {
    throw toTurnlockError(error);
  });
  const { observer } = signals;
  const store: Store = { database, environment, limits, ...(observer === null ? {} : { observer }) };
  let vectors: VectorStore | null;
  try {
    const mode = options.migrate ?? (database.kind === 'pglite' ? 'auto' : 'check');
    await (mode === 'auto' ? migrate(database) : checkSchema(database));
    await recordToolSchemas(store, schemasOf(agents));
    vectors = await openVectors(store, remembering, { makes: mode === 'auto', onWarning: signals.warn });
    if (database.tookOverDeadHolder) await freeDeadLeases(store);
  } catch (error) {
    await database.close();
    throw error;
  }
  const closing = new AbortController();
  let closed: Promise<void> | null = null;
  const operations = new Operations();
  const { embedder, language } = remembering;
  const vectorWork =
    embedder === null || vectors === null
      ? null
      : new VectorWork({ store, embedder, vectors, operations, closing: closing.signal, onWarning: signals.warn });
  const services: Services = {
    store,
    agents,
    counters,
    build: buildOf(agents),
    holder: environment.uuid(),
    live: new LiveSessions(usedChannel(options.deltas ?? inProcessDeltas(), signals.warn), limits),
    drives: drive,
    isClaiming: false,
    announcer:
      onAwaiting == null
        ? null
        : new Announcer({ store, closing: closing.signal, onAwaiting, onWarning: signals.warn }),
    memory: { language, vectorWork },
    summariser: new Summariser(),
    evidence: new EvidenceKeeper({ store, closing: closing.signal, onWarning: signals.warn }),
    signals,
    operations,
    closing: closing.signal,
  };
  const worker = new WorkerControl(services, signals.warn);
  const close = (): Promise<void> => {
    closing.abort(new TurnlockError('RUNTIME_CLOSED', { message: 'runtime is closed' }));
    closed ??= operations.end().then(async () => {
      await database.close();
      signals.log('runtime.closed');
    });
    return closed;
  };
  signals.log('runtime.started', { agents: [...agents.keys()].join(', '), holder: services.holder });
  const runtime: Runtime<Agents> = {
    createSession: (session) => operate(services, () => createNewSession(services, session)),
    session: (reference) => operate(services, () => openSession(services, reference)),
    doctor: (asked = {}) =>
      operate(services, () => {
        const { build, announcer } = services;
        return examine(store, checkDoctor(asked, { build, announces: announcer !== null }));
      }),
    explain: (key) => operate(services, () => explainSession(services, checkSessionKey(key, 'explain'))),
    sessions: (asked) =>
      operate(services, () => listSessions(store, { ...checkSessions(asked, limits), build: services.build })),
    awaiting: (asked) => operate(services, () => listAwaiting(store, checkAwaiting(asked))),
    decide: (batch) =>
      operate(services, async () => {
        const { decisions, ...given } = checkOptions(batch, 'decide', ['tenantId', 'decisions']);
        const tenantId = checkTenant(given.tenantId);
        return decideBatch(services, tenantId, decisions, (sessionId) =>
          openSession(services, { tenantId, sessionId }),
        );
      }),
    memory: (owner) => {
      checkOpen(services);
      return new Memory(services, checkOwner(owner));
    },
    sessionLogic: () => sessionLogic<SessionActorInput>(services, (input) => openOrCreate(services, input)),
    recover: () =>
      operate(services, async () => {
        await services.announcer?.sweep();
        return recoverSessions({ ...services, drives: true, isClaiming: true });
      }),
    retain: (asked = {}) => operate(services, () => retain(store, asked, rules, () => checkOpen(services))),
    eraseUser: (asked) => operate(services, () => eraseUser(store, asked, () => checkOpen(services))),
    start: (settings) => worker.start(settings),
    stop: () => worker.stop(),
    close,
    [Symbol.asyncDispose]: close,
  };
  noteServices(runtime, services);
  return runtime;
}
