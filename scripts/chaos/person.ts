import { setTimeout as sleep } from 'node:timers/promises';
import type { Settlement } from '../../index.ts';
import type { Crew } from './crew.ts';
import type { World } from './world.ts';

/** Settles what people are asked, by what the ledger says; retries what FAILED. Until `until` aborts. */
export class Person {
  settled = 0;
  retried = 0;

  async run(world: World, crew: Crew, until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      await this.#decide(world, crew).catch(() => undefined);
      await sleep(200);
    }
  }

  async #decide(world: World, crew: Crew): Promise<void> {
    const acts = new Set(world.acts().map(({ key }) => key));
    const asked = await world.query(
      `SELECT s.session_id, x.execution_id, x.idempotency_key FROM turnlock.agent_sessions s
         JOIN turnlock.agent_tool_executions x ON x.session_id = s.session_id AND x.status = 'RUNNING' AND x.unknown_at IS NOT NULL
        WHERE s.current_state = 'AWAITING_INPUT'`,
    );
    for (const { session_id: sessionId, execution_id: executionId, idempotency_key: key } of asked) {
      const settlement: Settlement = acts.has(key)
        ? { outcome: 'succeeded', output: { did: 'seen in the ledger' }, by: 'person' }
        : { outcome: 'failed', reason: 'The ledger has no such act.', by: 'person' };
      const done = crew.pick(0)?.ask('settle', { sessionId, executionId, settlement });
      await Promise.race([
        done?.then(() => {
          this.settled += 1;
        }),
        sleep(2_000),
      ]).catch(() => undefined);
    }
    const failed = await world.query(`SELECT session_id FROM turnlock.agent_sessions WHERE current_state = 'FAILED'`);
    for (const { session_id: sessionId } of failed) {
      const done = crew.pick(0)?.ask('retry', { sessionId });
      await Promise.race([
        done?.then(() => {
          this.retried += 1;
        }),
        sleep(2_000),
      ]).catch(() => undefined);
    }
  }
}
