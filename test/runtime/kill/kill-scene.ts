import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, type Limits, type Runtime, type Session } from '../../../index.ts';
import type { DatabaseAdapter } from '../../../persistence/database.contract.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { spawnChild } from '../../support/child.ts';
import type { Child } from '../../support/start-child.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Act, KILL_LIMITS, type WorkerTask, workerAgent } from './worker-agent.ts';

/** A database that several processes open, one after the other or side by side. */
export interface KilledDatabase {
  location: WorkerTask['database'];
  adapter(): DatabaseAdapter;
}

type Task = Omit<WorkerTask, 'database' | 'ledger'>;

/** Processes on one database, and the world in which they act. */
export interface KillScene {
  start(task: Task): Child;
  /** Starts a process, waits until so many of its passages have stopped (default 1), and kills it. */
  kill(task: Task, stops?: number): Promise<void>;
  /** Opens a runtime in this process, which acts in the same world. Closed at the test's end. */
  resume(limits?: Partial<Limits>): Promise<Runtime>;
  /** Every act so far, by whatever process. */
  acts(): Act[];
}

/** Sets the scene for one test. */
export async function killScene(database: KilledDatabase): Promise<KillScene> {
  const folder = await mkdtemp(join(tmpdir(), 'turnlock-kill-'));
  atTestEnd(() => rm(folder, { recursive: true, force: true }));
  const ledger = join(folder, 'ledger');
  const own: Act[] = [];
  const start = (task: Task) =>
    spawnChild('test/runtime/kill/worker.child.ts', {
      args: [JSON.stringify({ database: database.location, ledger, ...task })],
    });
  return {
    start,
    async kill(task, stops = 1) {
      const child = start(task);
      for (let count = 0; count < stops; count += 1) await child.next('stopped');
      await child.kill();
    },
    async resume(limits = {}) {
      const agent = workerAgent({ act: (line) => void own.push(line), stopAt: async () => undefined });
      const runtime = await createRuntime({
        database: database.adapter(),
        agents: [agent],
        migrate: 'check',
        limits: { ...KILL_LIMITS, ...limits },
        onWarning: () => undefined,
      });
      atTestEnd(() => runtime.close());
      return runtime;
    },
    acts: () => [...readLedger(ledger), ...own],
  };
}

/** Every line of a ledger; none where nothing was written yet. */
export function readLedger(file: string): Act[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Sweeps until so many sessions were brought to rest: the lease of a dead process ends within a second. */
export async function recoverAll(runtime: Runtime, count: number): Promise<string[]> {
  const states: string[] = [];
  await waitFor(
    async () => {
      states.push(...(await runtime.recover()).flatMap(({ state }) => (state === undefined ? [] : [state])));
      return states.length >= count;
    },
    { for: `${count} sessions to be recovered`, everyMs: 50 },
  );
  return states.sort();
}

/** The session that the processes know by this external id. */
export async function openByExternalId(runtime: Runtime, externalId: string): Promise<Session> {
  return await runtime.session({ tenantId: 'tenant', externalId });
}
