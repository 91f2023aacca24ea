import { createActor, waitFor } from 'xstate';
import type { CallerTransaction, Run, Runtime, Session, SessionReference } from '../../index.ts';
import type { Ids } from './tenant-world.ts';

/** What a caller of one tenant has in hand. */
export interface Hands {
  runtime: Runtime;
  agentName: string;
  tenantId: string;
  /** Runs `work` in a transaction of the caller's own, and rolls it back. */
  inTransaction<Result>(work: (transaction: CallerTransaction) => Promise<Result>): Promise<Result>;
}

/** A call with ids that are another tenant's, or nobody's. Answers with whatever it shows. */
export type Probe = (hands: Hands, ids: Ids) => Promise<unknown>;

/** A new session of the caller's own, of a user whom the other tenant has too. */
async function ownSession({ runtime, agentName, tenantId }: Hands, { userId }: Ids): Promise<Session> {
  return runtime.createSession({ agent: agentName, tenantId, userId });
}

/** The same once it waits for a person, as the other tenant's does. */
async function askingSession(hands: Hands, ids: Ids): Promise<Session> {
  const session = await ownSession(hands, ids);
  await (await session.send('ask own')).result();
  return session;
}

async function shown(run: Run | null): Promise<unknown> {
  if (run === null) return null;
  const result = await run.result();
  const events: unknown[] = [];
  for await (const event of run) events.push(event);
  return { repeated: run.repeated, result, events };
}

/** What an actor of a session that is another tenant's comes to. */
async function seenByActor(runtime: Runtime, input: SessionReference): Promise<unknown> {
  const actor = createActor(runtime.sessionLogic(), { input });
  actor.subscribe({ error: () => undefined });
  actor.start();
  const { status, error, ...seen } = await waitFor(
    actor,
    (snapshot) => snapshot.status !== 'active' || snapshot.value !== null,
  );
  actor.stop();
  return status === 'error' ? Promise.reject(error) : { status, seen };
}

const BY = { by: 'own' };

/** For each method of a runtime, what is asked of it. What takes no tenant and no id is the host’s: see below. */
export const RUNTIME_PROBES: Readonly<Record<string, readonly Probe[]>> = {
  session: [
    ({ runtime, tenantId }, { sessionId }) => runtime.session({ tenantId, sessionId }),
    ({ runtime, tenantId }, { externalId }) => runtime.session({ tenantId, externalId }),
    ({ runtime, tenantId }, { sessionId, externalId }) =>
      runtime.session({ tenantId, sessionId, externalId } as { tenantId: string; sessionId: string }),
  ],
  sessions: [
    ({ runtime, tenantId }) => runtime.sessions({ tenantId, limit: 1000 }),
    ({ runtime, tenantId }) => runtime.sessions({ tenantId, state: 'AWAITING_INPUT' }),
    ({ runtime, tenantId }) => runtime.sessions({ tenantId, stranded: true }),
    ({ runtime, tenantId }, { sessionId }) => runtime.sessions({ tenantId, forkOf: sessionId }),
  ],
  // What it gives is asked by itself: see MEMORY_PROBES.
  memory: [async (hands, ids) => memoryOf(hands, ids).tenantId === hands.tenantId],
  explain: [({ runtime, tenantId }, { sessionId }) => runtime.explain({ tenantId, sessionId })],
  awaiting: [
    ({ runtime, tenantId }, { approvalId: after }) => runtime.awaiting({ tenantId, after }),
    ({ runtime, tenantId }, { sessionId }) => runtime.awaiting({ tenantId, sessionId }),
    ({ runtime, tenantId }, { userId }) => runtime.awaiting({ tenantId, userId }),
  ],
  decide: [
    ({ runtime, tenantId }, { executionId, unknownExecutionId, digest }) =>
      runtime.decide({
        tenantId,
        decisions: [
          { executionId, decision: 'approve', digest, ...BY },
          { executionId, decision: 'deny', reason: 'no', ...BY },
          { executionId: unknownExecutionId, decision: 'settle', outcome: 'succeeded', output: 1, ...BY },
        ],
      }),
  ],
  retain: [
    ({ runtime, tenantId }) =>
      runtime.retain({ tenantId, dryRun: true, policies: [{ state: 'AWAITING_INPUT', olderThanMs: 0 }] }),
  ],
  eraseUser: [
    ({ runtime, tenantId }, { userId }) => runtime.eraseUser({ tenantId, userId, cancelRuns: true, ...BY }),
    ({ runtime, tenantId }, { userId }) => runtime.eraseUser({ tenantId, userId, dryRun: true, ...BY }),
  ],
  sessionLogic: [
    ({ runtime, tenantId }, { sessionId }) => seenByActor(runtime, { tenantId, sessionId }),
    ({ runtime, tenantId }, { externalId }) => seenByActor(runtime, { tenantId, externalId }),
  ],
  // Last: from here on the tenant has sessions of its own with ids that the other one has too.
  createSession: [
    ({ inTransaction, runtime, agentName: agent, tenantId }, { externalId, userId }) =>
      inTransaction(async (transaction) => {
        const options = { agent, tenantId, userId, externalId, transaction };
        return (await runtime.createSession(options)).tenantId;
      }),
    async ({ runtime, agentName: agent, tenantId }, { externalId, userId }) =>
      (await runtime.createSession({ agent, tenantId, userId, externalId })).status(),
  ],
};

/** The memories of a user whom the other tenant has too. */
const memoryOf = ({ runtime, tenantId }: Hands, { userId }: Ids) => runtime.memory({ tenantId, userId });
const fact = { kind: 'fact', content: 'own fact' } as const;

/** The same for each method of a user's memories. What the caller stores goes at once. */
export const MEMORY_PROBES: Readonly<Record<string, readonly Probe[]>> = {
  recall: [
    (hands, ids) => memoryOf(hands, ids).recall({ query: '' }),
    (hands, ids) => memoryOf(hands, ids).recall({ query: 'known of' }),
    (hands, ids) => memoryOf(hands, ids).recall({ query: ids.order, includeSuperseded: true }),
    (hands, ids) => memoryOf(hands, ids).recall({ query: 'known', sessionId: ids.sessionId }),
  ],
  list: [
    (hands, ids) => memoryOf(hands, ids).list(),
    (hands, ids) => memoryOf(hands, ids).list({ after: ids.memoryId, includeSuperseded: true }),
  ],
  forget: [
    (hands, ids) => memoryOf(hands, ids).forget({ memoryIds: [ids.memoryId] }),
    (hands, ids) => memoryOf(hands, ids).forget({ all: true, sessionId: ids.sessionId }),
    (hands, ids) => memoryOf(hands, ids).forget({ all: true }),
  ],
  remember: [
    (hands, ids) => memoryOf(hands, ids).remember({ ...fact, supersedes: [ids.memoryId] }),
    (hands, ids) => memoryOf(hands, ids).remember({ ...fact, sessionId: ids.sessionId }),
    (hands, ids) =>
      hands.inTransaction((transaction) =>
        memoryOf(hands, ids).remember({ ...fact, memoryId: ids.memoryId }, { transaction }),
      ),
    (hands, ids) =>
      hands.inTransaction((transaction) =>
        memoryOf(hands, ids).remember({ ...fact, supersedes: [ids.memoryId] }, { transaction }),
      ),
    async (hands, ids) => {
      const remembered = await memoryOf(hands, ids).remember({ ...fact, memoryId: ids.memoryId });
      // Else it would be there where the same user is erased later on.
      await memoryOf(hands, ids).forget({ memoryIds: [ids.memoryId] });
      return remembered;
    },
  ],
};

/** Methods of a runtime that concern the process or all tenants, and so are for the host's own code: what they show is no tenant's to see. */
export const HOST_METHODS: Readonly<Record<string, string>> = {
  doctor: 'for operators, who see every tenant’s; the service’s role is refused',
  recover: 'drives what is owed, whoever it belongs to; the host sees which sessions',
  start: 'a worker is for all tenants',
  stop: 'takes nothing and answers nothing',
  close: 'takes nothing and answers nothing',
  'Symbol(Symbol.asyncDispose)': 'is close',
};

/** The same for each method of a session: of the caller's own, with ids that are not. */
export const SESSION_PROBES: Readonly<Record<string, readonly Probe[]>> = {
  send: [
    async (hands, ids) => shown(await (await ownSession(hands, ids)).send('hello', { messageId: ids.messageId })),
    async (hands, ids) => shown(await (await ownSession(hands, ids)).send(`once ${ids.order}`)),
    async (hands, ids) => {
      const own = await ownSession(hands, ids);
      return hands.inTransaction(async (transaction) => {
        const { repeated } = await own.send('hello', { messageId: `${ids.messageId} waits`, transaction });
        return { repeated };
      });
    },
  ],
  retry: [async (hands, ids) => shown(await (await ownSession(hands, ids)).retry(BY))],
  settle: [
    async (hands, ids) =>
      shown(await (await ownSession(hands, ids)).settle(ids.unknownExecutionId, { outcome: 'succeeded', ...BY })),
    async (hands, ids) =>
      shown(await (await askingSession(hands, ids)).settle(ids.executionId, { outcome: 'runAgain', ...BY })),
  ],
  approve: [
    async (hands, ids) =>
      shown(await (await ownSession(hands, ids)).approve(ids.executionId, { ...BY, digest: ids.digest })),
    async (hands, ids) =>
      shown(await (await askingSession(hands, ids)).approve(ids.executionId, { ...BY, params: { note: 'own' } })),
  ],
  deny: [
    async (hands, ids) => shown(await (await askingSession(hands, ids)).deny(ids.executionId, { ...BY, reason: 'no' })),
  ],
  actor: [
    async (hands, ids) => {
      const actor = (await askingSession(hands, ids)).actor();
      const seen = await waitFor(actor, ({ value }) => value !== null);
      actor.stop();
      return seen;
    },
  ],
  resume: [async (hands, ids) => shown(await (await ownSession(hands, ids)).resume())],
  cancel: [async (hands, ids) => (await askingSession(hands, ids)).cancel(BY)],
  complete: [async (hands, ids) => (await ownSession(hands, ids)).complete(BY)],
  fork: [
    async (hands, ids) => {
      const own = await ownSession(hands, ids);
      await (await own.send('hello')).result();
      return (await own.fork({ externalId: `${ids.externalId} fork`, ...BY })).status();
    },
  ],
  status: [async (hands, ids) => (await ownSession(hands, ids)).status()],
  history: [async (hands, ids) => (await askingSession(hands, ids)).history()],
  transitions: [async (hands, ids) => (await askingSession(hands, ids)).transitions()],
  follow: [async (hands, ids) => (await (await askingSession(hands, ids)).follow({ deltas: true }).next()).value],
  explain: [async (hands, ids) => (await ownSession(hands, ids)).explain()],
  release: [async (hands, ids) => (await ownSession(hands, ids)).release(BY)],
  replay: [async (hands, ids) => (await askingSession(hands, ids)).replay()],
  verify: [async (hands, ids) => (await askingSession(hands, ids)).verify()],
};
