import { setTimeout as pause } from 'node:timers/promises';
import type { Run, Runtime } from '../../../index.ts';
import type { SessionState } from '../../../machines/session-state.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';
import { judge } from './judge.ts';
import { People } from './people.ts';
import type { MessagePlot, Plot } from './plot.ts';
import { textOf } from './plot-agent.ts';
import { Stage } from './stage.ts';

/** Milliseconds within which a play ends, unless something in it waits for ever. */
const PATIENCE_MS = 60_000;

/** What follows from one message takes fewer looks than this. */
const MAX_LOOKS = 300;

/** Plays a plot to its end, and holds what is left against what the world and the people know. */
export async function playPlot(database: RuntimeDatabase, plot: Plot): Promise<void> {
  const stage = new Stage(database, plot);
  const over = new AbortController();
  const late = pause(PATIENCE_MS, undefined, { signal: over.signal }).then(() => {
    throw new Error(`the play did not end within ${PATIENCE_MS} ms: ${stage.doing}`);
  });
  late.catch(() => undefined);
  try {
    await Promise.race([playOn(stage), late]);
    await stage.close();
  } catch (error) {
    // Not waited for: whatever is broken may hold it up.
    void stage.close().catch(() => undefined);
    throw error;
  } finally {
    over.abort();
  }
}

async function playOn(stage: Stage): Promise<void> {
  const { plot } = stage;
  await stage.open();
  const people = new People(stage);
  for (const [index, message] of plot.messages.entries()) {
    stage.doing = `message ${index}`;
    await send(stage, message, index);
    if (!message.isLeft) await bringToRest(stage, people, message.session);
  }
  const places = [...new Set(plot.messages.map(({ session }) => session))];
  stage.doing = 'the end';
  for (const place of places) await bringToRest(stage, people, place);
  await judge(stage, places);
}

/** Resolves once the message is durable, and its run rests or waits for something. */
async function send(stage: Stage, message: MessagePlot, index: number): Promise<void> {
  const { session: place } = message;
  await stage.withLiving(async (runtime) => {
    const session = await stage.session(runtime, place);
    // Nothing is sent to a session that failed before somebody looked after it.
    if ((await session.status()).state === 'FAILED') await session.retry({ by: 'ann' });
    await session.send(textOf(stage.plot, message), { messageId: `m${index}` });
  });
  await look(stage, place);
}

/** Brings a session to rest with whoever lives and whoever is asked: nothing waits, and nothing is owed. */
async function bringToRest(stage: Stage, people: People, place: number): Promise<void> {
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const sight = await look(stage, place);
    if (sight === 'held') await letGo(stage, people, place);
    else if (sight === 'AWAITING_INPUT') await people.decide(place);
    else if (sight === 'FAILED') await retry(stage, place);
    else if (sight === 'IDLE' && !(await hasMessages(stage, place))) return;
  }
  throw new Error(`session ${place} does not come to rest`);
}

/** A call does not come back: its run is cancelled, or it comes back after all. */
async function letGo(stage: Stage, people: People, place: number): Promise<void> {
  if (people.take().does === 'cancel') await people.cancel(place);
  stage.ledger.release();
}

/** What the session comes to by itself; `held` where a tool keeps it, or another one, waiting. */
async function look(stage: Stage, place: number): Promise<SessionState | 'held'> {
  return stage.withLiving(async (runtime) => {
    const over = new AbortController();
    const rests = comesTo(stage, runtime, place);
    rests.catch(() => undefined);
    try {
      return await Promise.race([rests, stage.ledger.held(over.signal).then((): 'held' => 'held')]);
    } finally {
      over.abort();
    }
  });
}

async function comesTo(stage: Stage, runtime: Runtime, place: number): Promise<SessionState> {
  await runtime.recover();
  const session = await stage.session(runtime, place);
  const run: Run | null = await session.resume();
  await run?.result();
  return (await session.status()).state;
}

async function retry(stage: Stage, place: number): Promise<void> {
  await stage.withLiving(async (runtime) => {
    const session = await stage.session(runtime, place);
    if ((await session.status()).state === 'FAILED') await session.retry({ by: 'ann' });
  });
}

async function hasMessages({ database, tenantId }: Stage, place: number): Promise<boolean> {
  const rows = await database.query(
    `SELECT FROM turnlock.agent_inbox i JOIN turnlock.agent_sessions s USING (session_id)
      WHERE s.tenant_id = $1 AND s.external_id = $2 AND rejected_at IS NULL`,
    [tenantId, `${place}`],
  );
  return rows.length > 0;
}
