import { appendFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { createRuntime } from '../../../index.ts';
import { parentChannel } from '../../support/child-channel.ts';
import { FAMILY_LIMITS, family } from './family.ts';

/** A worker that is a process: it drives parents and children until it is killed. */

/** What it is told. */
export interface FamilyTask {
  url: string;
  /** File to which every act appends a line. */
  ledger: string;
  /** Milliseconds around each act and before each answer of a model: time in which it may be killed. */
  pauseMs: number;
}

const task = JSON.parse(process.argv[2] ?? '') as FamilyTask;
const agent = family({
  act: (line) => appendFileSync(task.ledger, `${line}\n`),
  pause: () => wait(task.pauseMs),
});
const runtime = await createRuntime({
  database: postgres(task.url, { listen: task.url }),
  agents: [agent],
  migrate: 'check',
  limits: FAMILY_LIMITS,
  onWarning: () => undefined,
});
await runtime.start({ concurrency: 2 });
await parentChannel().say('ready');
