import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { childModule } from '../adapters/cli/children/child-module.ts';
import { type Child, startChild } from '../adapters/cli/children/start-child.ts';
import type { BenchWorkerMethods, BenchWorkerNotices } from './bench-worker.child.ts';

/** A worker in a process of its own. */
export type BenchWorker = Child<BenchWorkerMethods, BenchWorkerNotices>;

/** How often it is asked whether something has come to pass, in milliseconds. */
const ASK_MS = 20;

/** How long is waited for it. */
const PATIENCE_MS = 120_000;

/** Starts a process that has loaded its modules and waits to be told where to work. */
export function startWorker(): BenchWorker {
  return startChild(childModule(import.meta.url, 'bench-worker.child'));
}

/** Ends a worker without loss. */
export async function stopWorker(worker: BenchWorker): Promise<void> {
  await worker.ask('close');
  await worker.kill();
}

/** Puts `each` messages into the inbox of each session, in one transaction: work for whoever is there. */
export async function enqueue(owner: pg.Client, sessionIds: readonly string[], each = 1): Promise<void> {
  await owner.query(
    `SELECT turnlock.enqueue('bench', id, NULL, 'Double 21.') FROM unnest($1::uuid[]) id, generate_series(1, $2)`,
    [sessionIds, each],
  );
}

/** Resolves when every session is at rest and its inbox empty. */
export async function untilAllRest(owner: pg.Client, sessionIds: readonly string[]): Promise<void> {
  await until('the sessions to rest', async () => {
    const { rows } = await owner.query(
      `SELECT NOT EXISTS (SELECT FROM turnlock.agent_inbox WHERE session_id = ANY ($1))
          AND NOT EXISTS (SELECT FROM turnlock.agent_sessions
            WHERE session_id = ANY ($1) AND (current_state <> 'IDLE' OR lease_holder IS NOT NULL)) AS rest`,
      [sessionIds],
    );
    return rows[0].rest === true || undefined;
  });
}

/** Asks again and again until there is an answer. */
export async function until<Answer>(what: string, ask: () => Promise<Answer | undefined>): Promise<Answer> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < PATIENCE_MS) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await wait(ASK_MS);
  }
  throw new Error(`the benchmark waited ${PATIENCE_MS / 1_000} s for ${what}`);
}
