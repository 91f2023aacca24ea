import { postgres } from '../adapters/databases/postgres.ts';
import type { PostgresSource } from '../adapters/databases/postgres-pool.ts';
import { createRuntime, type Runtime, type Session } from '../index.ts';
import { oneToolAgent } from './one-tool-agent.ts';

/** A runtime of the one-tool agent on a migrated database. */
export async function openBenchRuntime(source: PostgresSource): Promise<Runtime> {
  return await createRuntime({
    database: postgres(source),
    agents: [oneToolAgent],
    migrate: 'check',
    onWarning: () => undefined,
  });
}

/** A session without turns. */
export async function newSession(runtime: Runtime): Promise<Session> {
  return await runtime.createSession({ agent: oneToolAgent.name, tenantId: 'bench', userId: 'bench' });
}

/** One run, from the message to rest. */
export async function runOnce(session: Session, message = 'Double 21.'): Promise<void> {
  const run = await session.send(message);
  const { state, error } = await run.result();
  if (state !== 'IDLE') throw new Error(`a run of the benchmark ended in ${state}: ${error?.message}`);
}
