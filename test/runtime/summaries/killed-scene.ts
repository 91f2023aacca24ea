import pg from 'pg';
import { expect } from 'vitest';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { createRuntime, type Runtime } from '../../../index.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { spawnChild } from '../../support/child.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { KILLED_LIMITS, killedAgent } from './killed-agent.ts';

/** A database, and a process on it that was killed where it stopped. */
export async function killedAt(stopAt: string, messages: string[]) {
  const { url } = await freshDatabase();
  const child = spawnChild('test/runtime/summaries/memory.child.ts', {
    args: [JSON.stringify({ url, messages, stopAt })],
  });
  expect(await child.next('stopped')).toMatchObject({ place: stopAt });
  await child.kill();
  const client = new pg.Client({ connectionString: url, application_name: 'turnlock-test-support' });
  await client.connect();
  atTestEnd(() => client.end());
  const query = async (text: string) => (await client.query(text)).rows;
  return { url, query };
}

/** A worker in this process, which goes on with what the dead one left. Closed at the test's end. */
export async function startWorker(url: string): Promise<Runtime> {
  const runtime = await createRuntime({
    database: postgres(url),
    agents: [killedAgent()],
    migrate: 'check',
    limits: KILLED_LIMITS,
    onWarning: () => undefined,
  });
  atTestEnd(() => runtime.close());
  await runtime.start();
  return runtime;
}

/** Every memory. */
export const MEMORIES = `SELECT kind, content, superseded_at IS NULL AS is_live, covers_to_turn FROM turnlock.agent_memories ORDER BY created_at`;
/** Every turn of a tool. */
export const TOOL_TURNS = `SELECT turn_index FROM turnlock.agent_turns WHERE role = 'tool'`;
