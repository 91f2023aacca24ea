import { postgres } from '../adapters/databases/postgres.ts';
import type { PostgresSource } from '../adapters/databases/postgres-pool.ts';
import { type Agent, createRuntime, type Runtime, type Session } from '../index.ts';
import { oneToolAgent } from './one-tool-agent.ts';

/** A runtime on a migrated database, of the one-tool agent where no other is named. */
export async function openBenchRuntime(source: PostgresSource, agent: Agent = oneToolAgent): Promise<Runtime> {
  return await createRuntime({
    database: postgres(source),
    agents: [agent],
    migrate: 'check',
    onWarning: () => undefined,
  });
}

/** A session without turns. */
export async function newSession(runtime: Runtime, agent = oneToolAgent.name): Promise<Session> {
  return await runtime.createSession({ agent, tenantId: 'bench', userId: 'bench' });
}

/** One run, from the message to rest. */
export async function runOnce(session: Session, message = 'Double 21.'): Promise<void> {
  const run = await session.send(message);
  const { state, error } = await run.result();
  if (state !== 'IDLE') throw new Error(`a run of the benchmark ended in ${state}: ${error?.message}`);
}
