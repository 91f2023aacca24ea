import { z } from 'zod';
import { scripted } from '../../../adapters/models/scripted.ts';
import { systemEnvironment } from '../../../environment.ts';
import { defineAgent, isTurnlockError, type Session } from '../../../index.ts';
import { call, eachRun, gate, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';
import { HEARTBEAT_MS, type Stage, Stop, typesOf, userTexts } from './process.ts';

const AN_HOUR_MS = 3_600_000;

const echo = (name: string) =>
  defineAgent({ name, instructions: 'Do it.', model: scripted(({ turns }) => `heard ${turns.at(-1)!.text}`) });

const at = async (session: Session, state: string) =>
  waitFor(async () => (await session.status()).state === state, { for: `the session to be ${state}` });

/** Whether a backend waits for an advisory lock, or a row of the sessions, in this database. */
async function somebodyWaits(stage: Stage): Promise<boolean> {
  const rows = await stage.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
}

/** Two processes send; the one that has the lock stands still. Which message is first? */
async function race(stage: Stage, stop: Stop): Promise<unknown> {
  const agent = echo('race');
  const slow = await stage.start(agent, stop.environment);
  const quick = await stage.start(agent);
  const session = await stage.session(quick, agent);
  const { tenantId, sessionId } = session;
  const handle = await slow.session({ tenantId, sessionId });
  stop.arm();
  const first = handle.send('first');
  first.catch(() => undefined);
  await stop.reached;
  let isThere = false;
  const second = session.send('second').finally(() => {
    isThere = true;
  });
  await waitFor(async () => isThere || (await somebodyWaits(stage)), { for: 'the second to wait or to be there' });
  stop.letGo();
  const told = await Promise.allSettled([first, second]);
  const [lost] = told.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  if (lost !== undefined) return isTurnlockError(lost) ? lost.code : String(lost);
  await waitFor(async () => (await userTexts(session)).length === 2, { for: 'both messages' });
  await at(session, 'IDLE');
  return userTexts(session);
}

/** Each scene answers what it saw. It runs against the sources beside it, patched or not. */
export const scenes: Record<string, (stage: Stage) => Promise<unknown>> = {
  overtaken: (stage) => race(stage, new Stop('afterLock')),

  /** What in the schema stops such a writer too is out. */
  async olderVersion(stage) {
    await stage.query('DROP TRIGGER guard_session_update ON turnlock.agent_sessions');
    await stage.query('ALTER TABLE turnlock.agent_transitions DROP CONSTRAINT agent_transitions_pkey CASCADE');
    await stage.query('ALTER TABLE turnlock.agent_transition_payloads DROP CONSTRAINT agent_transition_payloads_pkey');
    await stage.query('ALTER TABLE turnlock.agent_turns DROP CONSTRAINT uq_session_turn_index');
    await race(stage, new Stop('beforeCommit'));
    const rows = await stage.query(
      `SELECT turn_index FROM turnlock.agent_turns WHERE role = 'user' ORDER BY turn_index`,
    );
    return rows.map(({ turn_index }) => turn_index);
  },

  async zombie(stage) {
    const gates = [gate(), gate()];
    const asked = [gate(), gate()];
    let count = 0;
    const agent = defineAgent({
      name: 'zombie',
      instructions: 'Do it.',
      model: scripted(async () => {
        const place = count;
        count += 1;
        asked[place]!.open();
        await gates[place]!.opened;
        return place === 0 ? 'stale' : 'fresh';
      }),
    });
    const session = await stage.session(await stage.start(agent), agent);
    const run = await session.send('go');
    await asked[0]!.opened;
    await stage.moveClock(AN_HOUR_MS);
    const recovering = (await stage.start(agent)).recover();
    await asked[1]!.opened;
    const transitions = (await session.transitions()).length;
    gates[0]!.open();
    // The first one is refused, or is there.
    const isDone = async () => (await typesOf(session)).length > transitions;
    await Promise.race([waitFor(isDone, { for: 'a reply' }), refusedCommit(run)]);
    gates[1]!.open();
    await recovering;
    await at(session, 'IDLE');
    return (await session.history()).at(-1)!.content;
  },

  async takenAlive(stage) {
    const { opened, open } = gate();
    const begun = gate();
    const tool = looseTool('act', async () => {
      begun.open();
      await opened;
      return 'done';
    });
    const agent = defineAgent({
      name: 'alive',
      instructions: 'Do it.',
      model: scripted(eachRun({ toolCalls: [call('act')] }, 'done')),
      tools: [tool],
    });
    const session = await stage.session(await stage.start(agent), agent);
    await session.send('go');
    await begun.opened;
    const other = await stage.start(agent);
    const { tenantId, sessionId } = session;
    await (await other.session({ tenantId, sessionId })).resume();
    open();
    await at(session, 'IDLE');
    return (await typesOf(session)).filter((type) => type === 'worker.tookOver');
  },

  async takenInCommit(stage) {
    const { opened, open } = gate();
    const asked = gate();
    let count = 0;
    const agent = defineAgent({
      name: 'commit',
      instructions: 'Do it.',
      model: scripted(async () => {
        count += 1;
        if (count > 1) return 'of the second';
        asked.open();
        await opened;
        return 'of the first';
      }),
    });
    const stop = new Stop('afterLock');
    const session = await stage.session(await stage.start(agent, stop.environment), agent);
    await session.send('go');
    await asked.opened;
    await stage.moveClock(AN_HOUR_MS);
    stop.arm();
    open();
    await stop.reached;
    let isDone = false;
    const recovering = (await stage.start(agent)).recover().finally(() => {
      isDone = true;
    });
    const isTaken = async () => isDone || (await typesOf(session)).includes('worker.tookOver');
    await waitFor(isTaken, { for: 'the takeover, or its refusal' });
    stop.letGo();
    const [recovery] = await recovering;
    await at(session, 'IDLE');
    return recovery?.skipped ?? recovery?.state;
  },

  async repeated(stage) {
    const agent = echo('repeated');
    const session = await stage.session(await stage.start(agent), agent);
    const first = await session.send('hello', { messageId: 'm' });
    await first.result();
    try {
      const again = await session.send('hello', { messageId: 'm' });
      return again.repeated && again.runId === first.runId ? 'the same run' : 'another run';
    } catch (error) {
      return (error as { code: string }).code;
    }
  },

  async waiting(stage) {
    const agent = echo('waiting');
    const session = await stage.session(await stage.start(agent), agent);
    await stage.query('SELECT turnlock.enqueue($1, $2, NULL, $3)', [session.tenantId, session.sessionId, 'first']);
    await (await session.send('second')).result();
    await waitFor(async () => (await userTexts(session)).length === 2, { for: 'both messages' });
    return userTexts(session);
  },

  async unheard(stage) {
    const gates = [gate(), gate()];
    const begun = gate();
    let acts = 0;
    const tool = looseTool('act', async () => {
      const place = acts;
      acts += 1;
      begun.open();
      await gates[place]?.opened;
      return 'done';
    });
    const agent = defineAgent({
      name: 'unheard',
      instructions: 'Do it.',
      model: scripted((request) => {
        if (request.turns.findLast(({ role }) => role === 'user')!.text === 'stop') return 'stopped';
        return eachRun({ toolCalls: [call('act', { n: 1 })] }, { toolCalls: [call('act', { n: 2 })] }, 'done')(request);
      }),
      tools: [tool],
    });
    const session = await stage.session(await stage.start(agent), agent);
    const run = await session.send('go');
    await begun.opened;
    const { tenantId, sessionId } = session;
    await stage.query(`SELECT turnlock.enqueue($1, $2, NULL, 'stop', 'interrupt')`, [tenantId, sessionId]);
    for (const { open } of gates) open();
    await run.result();
    return acts;
  },

  async unheardWhileOut(stage) {
    let beats = 0;
    const environment = {
      ...systemEnvironment,
      sleep: (ms: number, signal?: AbortSignal) => systemEnvironment.sleep(ms === HEARTBEAT_MS ? 20 : ms, signal),
      faultPoint: (point: string) => {
        if (point === 'beforeHeartbeat') beats += 1;
      },
    };
    const { opened, open } = gate();
    const begun = gate<AbortSignal>();
    const tool = looseTool('act', (_params, { signal }) => {
      begun.open(signal);
      return opened;
    });
    const script = eachRun({ toolCalls: [call('act')] }, 'done');
    const agent = defineAgent({ name: 'out', instructions: 'Do it.', model: scripted(script), tools: [tool] });
    const session = await stage.session(await stage.start(agent, environment), agent);
    const run = await session.send('go');
    const signal = await begun.opened;
    const { tenantId, sessionId } = session;
    await stage.query(`SELECT turnlock.enqueue($1, $2, NULL, 'stop', 'interrupt')`, [tenantId, sessionId]);
    const last = beats + 3;
    await waitFor(() => signal.aborted || beats > last, { for: 'the signal, or some heartbeats' });
    const isHeard = signal.aborted;
    open();
    await run.result();
    return isHeard;
  },

  async final(stage) {
    const { opened, open } = gate();
    const asked = gate();
    const agent = defineAgent({
      name: 'final',
      instructions: 'Do it.',
      output: z.object({ said: z.string() }),
      model: scripted(async ({ turns }) => {
        asked.open();
        await opened;
        return JSON.stringify({ said: turns.at(-1)!.text });
      }),
    });
    const session = await stage.session(await stage.start(agent), agent);
    await session.send('first');
    await asked.opened;
    const second = await session.send('second');
    open();
    return (await second.result()).error?.code ?? null;
  },

  async late(stage) {
    const begun = gate();
    const { opened, open } = gate();
    const asked = gate();
    const answered = gate();
    const tool = looseTool('act', async () => {
      begun.open();
      await opened;
      return 'done';
    });
    const agent = defineAgent({
      name: 'late',
      instructions: 'Do it.',
      model: scripted(async (request) => {
        if (request.turns.at(-1)!.text === 'act') return { toolCalls: [call('act')] };
        asked.open();
        await answered.opened;
        return 'done';
      }),
      tools: [tool],
    });
    const session = await stage.session(await stage.start(agent), agent);
    const stop = new Stop('afterStatement', /evidence_count/);
    const { tenantId, sessionId } = session;
    await session.send('act');
    await begun.opened;
    await session.cancel();
    // Another process has the next run, and is about to commit its reply: it has read, and not written.
    const other = await stage.start(agent, stop.environment);
    await (await other.session({ tenantId, sessionId })).send('and now?');
    await asked.opened;
    await stage.query('UPDATE turnlock.agent_sessions SET wake_at = turnlock.turnlock_now() WHERE session_id = $1', [
      sessionId,
    ]);
    stop.arm();
    answered.open();
    await stop.reached;
    open();
    const evidence = () => stage.query('SELECT FROM turnlock.agent_tool_evidence WHERE session_id = $1', [sessionId]);
    const isKept = async () => (await evidence()).length > 0;
    await waitFor(async () => (await isKept()) || (await somebodyWaits(stage)), {
      for: 'the evidence to wait or to be kept',
    });
    stop.letGo();
    await at(session, 'IDLE');
    await waitFor(isKept, { for: 'the evidence' });
    // Its own process goes on from it at once: it is owed, or somebody is at it, or it is taken; asked in this order, one of them is seen.
    const owed = await stage.query('SELECT FROM turnlock.sweep_sessions(10) WHERE session_id = $1', [sessionId]);
    if (owed.length > 0) return 'found';
    const holder = 'SELECT FROM turnlock.agent_sessions WHERE session_id = $1 AND lease_holder IS NULL';
    await waitFor(async () => (await stage.query(holder, [sessionId])).length > 0, { for: 'nobody at it' });
    return (await typesOf(session)).includes('tool.evidenced') ? 'found' : 'forgotten';
  },

  async atWork(stage) {
    const { opened, open } = gate();
    const begun = gate();
    const tool = looseTool(
      'act',
      async () => {
        begun.open();
        await opened;
        return 'done';
      },
      { effect: 'nonRepeatable', timeoutMs: AN_HOUR_MS },
    );
    const agent = defineAgent({
      name: 'work',
      instructions: 'Do it.',
      model: scripted(eachRun({ toolCalls: [call('act')] }, 'done')),
      tools: [tool],
    });
    const session = await stage.session(await stage.start(agent), agent);
    await session.send('go');
    await begun.opened;
    await stage.moveClock(AN_HOUR_MS / 2);
    // The first sleep of this length is that between two signs of life, the second that between two looks at the lost call.
    const waits = gate();
    let sleeps = 0;
    const sleep: typeof systemEnvironment.sleep = (ms, signal) => {
      if (ms === HEARTBEAT_MS) sleeps += 1;
      if (sleeps === 2) waits.open();
      return systemEnvironment.sleep(ms, signal);
    };
    const recovering = (await stage.start(agent, { ...systemEnvironment, sleep })).recover();
    const seen = await Promise.race([
      waits.opened.then(() => 'waits'),
      recovering.then(([recovery]) => recovery?.state),
    ]);
    open();
    return seen;
  },
};

/** Resolves when whoever drives a run here has been refused. */
async function refusedCommit(run: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of run);
}
