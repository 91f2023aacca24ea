import { expect, test } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { killedAt, MEMORIES, startWorker, TOOL_TURNS } from './killed-scene.ts';

/** Where a process stops that is killed: how it is told, the place, and how many memories are stored by then. */
export type Killed = [told: string, stopAt: string, stored: number];

/** Real processes, killed with SIGKILL while a tool remembers. */
export function describeKilledRemembering(cases: Killed[]): void {
  test.each(cases)(
    'a process that is killed %s leaves the memory and its call, or neither; once another one went on, there is one of each',
    async (_, stopAt, stored) => {
      const { url, query } = await killedAt(stopAt, ['remember the milk']);
      // The server may still be at the dead process' transaction for a moment.
      await waitFor(
        async () =>
          (await query(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`))
            .length === 0,
        {
          for: 'the connections of the dead process to end',
        },
      );
      expect(await query(MEMORIES)).toHaveLength(stored);
      expect(await query(TOOL_TURNS)).toHaveLength(stored);
      const runtime = await startWorker(url);
      const session = await runtime.session({ tenantId: 'tenant', externalId: 'one' });
      await waitFor(async () => (await session.status()).state === 'IDLE', { for: 'the session to rest' });
      expect(await query(MEMORIES)).toMatchObject([{ kind: 'fact', content: 'remember the milk', is_live: true }]);
      expect(await query(TOOL_TURNS)).toHaveLength(1);
      expect((await session.verify()).findings).toEqual([]);
    },
  );
}

/** The same over a summary. */
export function describeKilledSummaries(cases: Killed[]): void {
  test.each(cases)(
    'a process that is killed over a summary %s: another one writes it, and one counts',
    async (_, stopAt) => {
      const messages = Array.from({ length: 6 }, (_value, place) => `${place} ${'x'.repeat(240)}`);
      const { url, query } = await killedAt(stopAt, messages);
      const runtime = await startWorker(url);
      await waitFor(
        async () => {
          const owed = await query('SELECT 1 FROM turnlock.agent_memory_tasks');
          const states = await query('SELECT current_state FROM turnlock.agent_sessions');
          return owed.length === 0 && states[0]?.current_state === 'IDLE';
        },
        { for: 'nothing to be owed', timeoutMs: 15_000 },
      );
      const summaries = await query(MEMORIES);
      expect(summaries.filter((row) => row.is_live)).toHaveLength(1);
      const session = await runtime.session({ tenantId: 'tenant', externalId: 'one' });
      const stores = (await session.transitions()).filter(({ type }) => type === 'memory.stored');
      expect(stores).toHaveLength(summaries.length);
      expect(await (await session.send('go on')).result()).toMatchObject({ state: 'IDLE', reply: 'done' });
      expect((await session.verify()).findings).toEqual([]);
    },
  );
}
