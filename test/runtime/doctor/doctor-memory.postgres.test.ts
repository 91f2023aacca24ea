import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, scriptedAgent } from '../../support/runtime-open.ts';

onPostgres((database) => {
  const agent = scriptedAgent('done');

  test('what is owed for memories and nobody makes is told of, also of a tenant without sessions', async () => {
    const runtime = await openRuntime(database(), [agent]);
    const tenantId = 'owing';
    const memory = runtime.memory({ tenantId, userId: 'user' });
    const findings = async () =>
      (await runtime.doctor({ tenantId })).findings
        .filter(({ code }) => code.startsWith('MEMORY_'))
        .map(({ code, place, found }) => ({ code, place, found }));
    const ids = [randomUUID(), randomUUID()] as const;
    for (const memoryId of ids) await memory.remember({ kind: 'fact', content: `of ${memoryId}`, memoryId });
    for (const [place, memoryId] of ids.entries()) {
      await database().query(
        `INSERT INTO turnlock.agent_memory_tasks (tenant_id, kind, user_id, memory_id, attempts, last_error_code, due_at, created_at)
           VALUES ($1, 'embed', 'user', $2, $3, $4, turnlock.turnlock_now(), turnlock.turnlock_now() + $3::int * interval '1 second')`,
        [tenantId, memoryId, place * 10, place === 0 ? null : 'EMBEDDING_FAILED'],
      );
    }
    const givenUp = {
      code: 'MEMORY_OWED',
      place: `vector of memory ${ids[1]}`,
      found: 'given up after 10 attempts, the last with EMBEDDING_FAILED',
    };
    expect(await findings()).toEqual([givenUp]);
    await database().moveClock(61_000);
    expect(await findings()).toEqual([
      { code: 'MEMORY_OWED', place: `vector of memory ${ids[0]}`, found: expect.stringMatching(/^owed for 6\d s$/) },
      givenUp,
    ]);
    await memory.forget({ all: true });
    expect(await findings()).toEqual([]);
  });

  test('over all tenants, one that has no session is looked at too, and one that has some once', async () => {
    const runtime = await openRuntime(database(), [agent]);
    const tenants = ['left-a', 'left-b', 'with-session'];
    const ids = tenants.map(() => randomUUID());
    for (const [place, tenantId] of tenants.entries()) {
      const memoryId = ids[place]!;
      await runtime.memory({ tenantId, userId: 'user' }).remember({ kind: 'fact', content: 'a fact', memoryId });
      await database().query(
        `INSERT INTO turnlock.agent_memory_tasks (tenant_id, kind, user_id, memory_id, attempts, due_at, created_at)
           VALUES ($1, 'embed', 'user', $2, 10, turnlock.turnlock_now(), turnlock.turnlock_now())`,
        [tenantId, memoryId],
      );
    }
    await runtime.createSession({ agent: agent.name, tenantId: 'with-session', userId: 'user' });
    for (const pageSize of [1, 500]) {
      const { findings } = await runtime.doctor({ all: true, pageSize });
      const told = findings.filter(({ tenantId }) => tenants.includes(tenantId ?? ''));
      expect(told.map(({ code, tenantId, place }) => [code, tenantId, place])).toEqual([
        ['MEMORY_OWED', 'with-session', `vector of memory ${ids[2]}`],
        ['MEMORY_OWED', 'left-a', `vector of memory ${ids[0]}`],
        ['MEMORY_OWED', 'left-b', `vector of memory ${ids[1]}`],
      ]);
    }
  });
});
