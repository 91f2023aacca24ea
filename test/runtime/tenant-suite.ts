import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';

const NAMES = ['user/1', 'user/12', 'user/1 ', '%', '_', 'USER/1', `x' OR '1'='1`, 'ü', '../user', '{a,b}'];

/** Tenants whose names run into each other, in every method that takes one. */
export const describeTenants: RuntimeSuite = (database) => {
  test('C66 nothing of one tenant is found under another, whatever the names', async () => {
    const suffix = randomUUID().slice(0, 8);
    const tenants = NAMES.map((name) => `${name}${suffix}`);
    const agent = scriptedAgent(({ tenantId }) => `reply for ${tenantId}`);
    const runtime = await openRuntime(database(), [agent]);
    const own = new Map<string, string>();
    for (const tenantId of tenants) {
      const session = await openSession(runtime, agent, { tenantId, externalId: 'the same' });
      const { reply } = await (await session.send(`of ${tenantId}`, { messageId: 'the same' })).result();
      expect(reply).toBe(`reply for ${tenantId}`);
      own.set(tenantId, session.sessionId);
    }
    expect(new Set(own.values()).size).toBe(tenants.length);
    for (const tenantId of tenants) {
      const listed = await runtime.sessions({ tenantId });
      expect(listed.map(({ sessionId }) => sessionId)).toEqual([own.get(tenantId)]);
      expect((await runtime.session({ tenantId, externalId: 'the same' })).sessionId).toBe(own.get(tenantId));
      const mine = await runtime.session({ tenantId, sessionId: own.get(tenantId)! });
      expect((await mine.history()).map(({ content }) => content)).toEqual([`of ${tenantId}`, `reply for ${tenantId}`]);
      for (const [other, sessionId] of own) {
        if (other === tenantId) continue;
        await expect(runtime.session({ tenantId, sessionId })).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
      }
    }
    await expect(runtime.session({ tenantId: `user${suffix}`, externalId: 'the same' })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });

  test('C66 a tenant is always named, and a session id is one', async () => {
    const agent = scriptedAgent('done');
    const runtime = await openRuntime(database(), [agent]);
    const sessionId = randomUUID();
    for (const tenantId of ['', undefined, null, 1, 'x'.repeat(65)]) {
      const given = { tenantId } as unknown as { tenantId: string };
      const invalid = { code: expect.stringMatching(/^VALUE_/) };
      await expect(runtime.session({ ...given, sessionId })).rejects.toMatchObject(invalid);
      await expect(openSession(runtime, agent, given)).rejects.toMatchObject(invalid);
      await expect((async () => runtime.sessions(given))()).rejects.toMatchObject(invalid);
    }
    for (const odd of ['%', '', 'not-a-uuid', `${sessionId}'`]) {
      await expect(runtime.session({ tenantId: 'tenant', sessionId: odd })).rejects.toMatchObject({
        code: expect.stringMatching(/^(VALUE_INVALID|VALUE_TOO_LARGE|SESSION_NOT_FOUND)$/),
      });
    }
  });
};
