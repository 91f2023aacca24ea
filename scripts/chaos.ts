import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { endOnSignals } from '../adapters/cli/children/end-on-signals.ts';
import { type SeededRandom, seededRandom } from '../adapters/cli/rehearse/seeded-random.ts';
import { check } from './chaos/check.ts';
import { Crew } from './chaos/crew.ts';
import { Person } from './chaos/person.ts';
import { Traffic } from './chaos/traffic.ts';
import { openWorld, type World } from './chaos/world.ts';

/*
 * Many workers on one server while processes are killed and paused, connections are cut and the server is stopped: a phase with faults, in
 * which nothing may be lost or done twice, and one without, in which every session must come to rest. Exit 1 where something did not hold,
 * or where there was too little of it to mean anything.
 */

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: process.env.TURNLOCK_SEED ?? String(Math.floor(Math.random() * 2 ** 31)) },
    sessions: { type: 'string', default: '30' },
    workers: { type: 'string', default: '4' },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);

/** What two minutes must have seen at the least. */
const WANTED = { messages: 300, kills: 40, takeovers: 15, refused: 5 };

/** How long every session may take to come to rest once nothing goes wrong any more, in milliseconds. */
const LIVENESS_MS = 120_000;

endOnSignals();
const random = seededRandom(seed);
console.log(`chaos: seed ${seed}, ${minutes} min, ${values.workers} workers, ${values.sessions} sessions`);
const world = await openWorld(Number(values.sessions));
const crew = new Crew({ url: world.server.url, ledger: world.ledger }, world.codeCache, Number(values.workers));
const traffic = new Traffic();
const person = new Person();
let cuts = 0;
let restarts = 0;
let isOk = false;
try {
  await crew.fill();
  const faulty = AbortSignal.timeout(minutes * 60_000);
  const watched = new AbortController();
  const people = person.run(world, crew, watched.signal);
  await Promise.all([traffic.run(world, crew, random, faulty), ...faults(faulty), progress(faulty)]);
  await crew.fill();
  const restMs = await untilAllRest(world);
  watched.abort();
  await people;
  isOk = await report(restMs);
} finally {
  await crew.end();
  await world.close();
}
process.exit(isOk ? 0 : 1);

/** Everything that goes wrong, each at its own pace. */
function faults(until: AbortSignal): Promise<void>[] {
  const every = async (least: number, most: number, own: SeededRandom, fault: (own: SeededRandom) => Promise<void>) => {
    while (!until.aborted) {
      await sleep(own.int(least, most), null, { signal: until }).catch(() => undefined);
      if (!until.aborted) await fault(own);
    }
  };
  const own = () => seededRandom(random.int(0, 2 ** 31 - 1));
  return [
    every(1_600, 3_200, own(), async (chance) => {
      const worker = crew.pick(chance.next());
      if (worker !== undefined) await crew.kill(worker);
    }),
    every(1_500, 4_000, own(), async (chance) => {
      const worker = crew.pick(chance.next());
      if (worker !== undefined) await crew.stop(worker, chance.int(1_500, 3_500));
    }),
    every(1_000, 3_000, own(), async (chance) => {
      const where = `FROM pg_stat_activity WHERE application_name = 'turnlock' AND pid <> pg_backend_pid()`;
      const rows = await world.query(`SELECT pid ${where}`);
      if (rows.length === 0) return;
      await world.query('SELECT pg_terminate_backend($1)', [chance.pick(rows).pid]);
      cuts += 1;
    }),
    (async () => {
      await sleep(minutes * 30_000);
      await world.server.crash();
      await sleep(500);
      await world.server.restart();
      restarts += 1;
    })(),
  ];
}

async function progress(until: AbortSignal): Promise<void> {
  while (!until.aborted) {
    await sleep(10_000, null, { signal: until }).catch(() => undefined);
    const { kills, stops, refused } = crew;
    console.log(
      `  ${traffic.acknowledged.length} messages, ${kills} kills, ${stops} pauses, ${cuts} cuts, ${restarts} restarts, ${refused} zombies refused`,
    );
  }
}

/** Milliseconds until nothing is at work and nothing waits; `null` where that does not come. */
async function untilAllRest({ query }: World): Promise<number | null> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < LIVENESS_MS) {
    const [{ restless }] = await query(
      `SELECT count(*)::int AS restless FROM turnlock.agent_sessions s WHERE current_state <> 'IDLE' OR lease_holder IS NOT NULL
          OR EXISTS (SELECT FROM turnlock.agent_inbox i WHERE i.session_id = s.session_id AND rejected_at IS NULL)`,
    );
    if (restless === 0) return Math.round(performance.now() - startedAt);
    await sleep(200);
  }
  return null;
}

async function report(restMs: number | null): Promise<boolean> {
  const counted = async (sql: string): Promise<number> =>
    (await world.query(`SELECT count(*)::int AS n FROM turnlock.${sql}`))[0].n;
  const takeovers = await counted(`agent_transitions WHERE event = 'worker.tookOver'`);
  const unknown = await counted(`agent_transitions WHERE event = 'tool.outcomeUnknown'`);
  const evidence = await counted('agent_tool_evidence');
  const transitions = await counted('agent_transitions');
  const seen = { messages: traffic.acknowledged.length, kills: crew.kills, takeovers, refused: crew.refused };
  const share = Math.min(1, minutes / 2);
  const tooFew = Object.entries(WANTED).filter(
    ([name, least]) => seen[name as keyof typeof seen] < Math.floor(least * share),
  );
  const wrong = [
    ...(await check(world, traffic.acknowledged)),
    ...tooFew.map(
      ([name, least]) => `too few ${name}: ${seen[name as keyof typeof seen]}, wanted ${Math.floor(least * share)}`,
    ),
    ...(restMs === null ? [`not everything came to rest within ${LIVENESS_MS} ms`] : []),
    ...(crew.died === 0 ? [] : [`${crew.died} workers died though nobody killed them`]),
    ...(restarts === 1 ? [] : ['the server was not restarted']),
  ];
  console.log(
    `chaos: ${seen.messages} messages acknowledged, ${traffic.refused} refused, ${traffic.cancels} cancels, ${transitions} transitions, ${world.acts().length} acts`,
  );
  console.log(
    `       ${seen.kills} kills, ${crew.stops} pauses, ${cuts} connections cut, ${restarts} restart of the server`,
  );
  console.log(
    `       ${takeovers} takeovers, ${seen.refused} zombies refused, ${unknown} unknown outcomes, ${evidence} late results kept, ${person.settled} settled and ${person.retried} retried by a person`,
  );
  if (restMs !== null) console.log(`       all at rest ${restMs} ms after the last fault`);
  for (const line of wrong) console.log(`WRONG  ${line}`);
  console.log(wrong.length === 0 ? 'chaos: everything held' : `chaos: ${wrong.length} did not hold`);
  console.log(`replay: npm run chaos -- --minutes ${minutes} --seed ${seed}`);
  return wrong.length === 0;
}
