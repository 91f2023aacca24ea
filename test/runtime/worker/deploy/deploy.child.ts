import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { postgres } from '../../../../adapters/databases/postgres.ts';
import { createRuntime } from '../../../../index.ts';
import { parentChannel } from '../../../support/child-channel.ts';

/** A worker of one build that is a process: it works until SIGTERM, then drains and ends. */

/** What it is told. */
export interface DeployTask {
  url: string;
  build: 1 | 2;
  /** File to which every act appends a line. */
  ledger: string;
  /** Milliseconds that an act takes. Default 40. */
  pauseMs?: number;
}

const task = JSON.parse(process.argv[2] ?? '') as DeployTask;
const parent = parentChannel();
const { build } = task.build === 1 ? await import('./build-1.ts') : await import('./build-2.ts');
const runtime = await createRuntime({
  database: postgres(task.url, { listen: task.url }),
  agents: [
    build({
      act: (ordered) => appendFileSync(task.ledger, `${JSON.stringify(ordered)}\n`),
      pause: () => pause(task.pauseMs ?? 40),
    }),
  ],
  migrate: 'check',
  // One call at a time: what waits for a slot is left to the next build.
  limits: { leaseMs: 2_000, sweepMs: 200, maxParallelTools: 1, maxRecoveries: 100 },
  onWarning: () => undefined,
});
await runtime.start({ concurrency: 4 });
process.once('SIGTERM', () => void runtime.close().then(() => process.exit(0)));
await parent.say('ready');
