import type pg from 'pg';
import type { Model, ModelRequest } from '../adapters/models/model.contract.ts';
import { type Agent, defineAgent, type Runtime, type Session } from '../index.ts';
import { loadTokenizer } from '../runtime/context/load-tokenizer.ts';
import { turnText } from '../runtime/context/turn-text.ts';
import type { BenchDatabase } from './bench-database.ts';
import { newSession, openBenchRuntime, runOnce } from './bench-runtime.ts';
import { costOf } from './cost.ts';
import { type CountedPool, countedPool } from './counted-pool.ts';
import type { LongSessionOptions } from './long-session-options.ts';
import { talk } from './talk.ts';

/** What a tenth of a session's runs took, with the summaries that they owed. */
export interface Tenth {
  /** Per run. */
  ms: number;
  statements: number;
  roundTrips: number;
  /** The most that a model was given at once. */
  tokens: number;
  turns: number;
}

/** What the runs of one session took, by tenths, the first one first. */
export interface SessionCost {
  tenths: Tenth[];
  /** Histories that were given and were not valid. */
  invalid: number;
  /** Summaries that were stored. */
  summaries: number;
}

/** The session of an agent with a budget, and that of one without. */
export interface LongSessionCost {
  budget: SessionCost;
  whole: SessionCost;
}

interface Given {
  tokens: number;
  turns: number;
  isValid: boolean;
}

/** One of the two sessions, with a runtime and a connection of its own. */
interface Side {
  counted: CountedPool;
  runtime: Runtime;
  session: Session;
  given: Given[];
  /** Milliseconds that the benchmark took to count what the model was given: no part of a run. */
  counting: { ms: number };
  tenths: Tenth[];
}

const TENTHS = 10;

/** Lets both sessions grow, tenth by tenth in turns. */
export async function measureLongSession(
  { url, owner }: BenchDatabase,
  { turns, maxTokens }: LongSessionOptions,
): Promise<LongSessionCost> {
  const countTokens = await loadTokenizer();
  const budget = await openSide(url, countTokens, { maxTokens });
  const whole = await openSide(url, countTokens, undefined);
  try {
    const runs = Math.ceil(turns / 2 / TENTHS);
    for (let tenth = 0; tenth < TENTHS; tenth += 1) {
      for (const side of [budget, whole]) side.tenths.push(await measureTenth(side, owner, { runs, tenth }));
    }
    return { budget: await costOfSide(budget, owner), whole: await costOfSide(whole, owner) };
  } finally {
    for (const { runtime, counted } of [budget, whole]) {
      await runtime.close();
      await counted.pool.end();
    }
  }
}

async function openSide(
  url: string,
  countTokens: (text: string) => number,
  context: { maxTokens: number } | undefined,
): Promise<Side> {
  const given: Given[] = [];
  const counting = { ms: 0 };
  const model: Model = {
    modelId: 'bench',
    async generate(request) {
      if (request.tools.length === 0 && request.instructions.includes('<conversation>'))
        return { text: talk(given.length) };
      const startedAt = performance.now();
      given.push(measured(request, countTokens));
      counting.ms += performance.now() - startedAt;
      return { text: talk(given.length) };
    },
  };
  const name = context === undefined ? 'whole' : 'budget';
  const instructions = 'Help the customers of a railway.';
  const agent: Agent = defineAgent({ name, model, instructions, ...(context === undefined ? {} : { context }) });
  const counted = countedPool(url);
  const runtime = await openBenchRuntime(counted.pool, agent);
  return { counted, runtime, session: await newSession(runtime, name), given, counting, tenths: [] };
}

function measured({ instructions, turns }: ModelRequest, countTokens: (text: string) => number): Given {
  const tokens = [instructions, ...turns.map(turnText)].reduce((sum, text) => sum + countTokens(text), 0);
  const isValid = turns.every(({ role }, at) => role === (at % 2 === 0 ? 'user' : 'assistant'));
  return { tokens, turns: turns.length, isValid };
}

/** The runs of one tenth, and the summaries that they owed: until nothing is owed. */
async function measureTenth(
  { counted, session, given, counting }: Side,
  owner: pg.Client,
  { runs, tenth }: { runs: number; tenth: number },
): Promise<Tenth> {
  const first = given.length;
  counted.take();
  counting.ms = 0;
  const startedAt = performance.now();
  for (let run = 0; run < runs; run += 1) await runOnce(session, talk(tenth * runs + run));
  while (await owesSummary(owner, session));
  const ms = performance.now() - startedAt - counting.ms;
  const { statements, roundTrips } = costOf(counted.take());
  const own = given.slice(first);
  return {
    ...{ ms: ms / runs, statements: statements / runs, roundTrips: roundTrips / runs },
    tokens: Math.max(...own.map((one) => one.tokens)),
    turns: Math.max(...own.map((one) => one.turns)),
  };
}

async function owesSummary(owner: pg.Client, { sessionId }: Session): Promise<boolean> {
  const { rowCount } = await owner.query('SELECT FROM turnlock.agent_memory_tasks WHERE session_id = $1', [sessionId]);
  return rowCount !== 0;
}

async function costOfSide({ session, given, tenths }: Side, owner: pg.Client): Promise<SessionCost> {
  const { rows } = await owner.query(
    `SELECT count(*)::int AS summaries FROM turnlock.agent_memories WHERE session_id = $1 AND kind = 'summary'`,
    [session.sessionId],
  );
  return { tenths, invalid: given.filter(({ isValid }) => !isValid).length, summaries: rows[0].summaries };
}
