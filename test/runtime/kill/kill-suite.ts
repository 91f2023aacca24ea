import { expect, test } from 'vitest';
import { type KilledDatabase, type KillScene, killScene, openByExternalId, recoverAll } from './kill-scene.ts';

/** Real processes, killed with SIGKILL, checked against a file outside the database. */
export function describeKills(freshDatabase: () => Promise<KilledDatabase>): void {
  /** What becomes of a note and of a charge, each started by a process that is dead now, the charge having happened so often. */
  async function checkKilled({ resume, acts }: KillScene, happened: number): Promise<void> {
    for (const name of ['note', 'charge']) expect(acts().filter(({ tool }) => tool === name)).toHaveLength(happened);
    const runtime = await resume();
    expect(await recoverAll(runtime, 2)).toEqual(['AWAITING_INPUT', 'IDLE']);
    const noted = acts().filter(({ tool }) => tool === 'note');
    expect(noted).toHaveLength(happened + 1);
    expect(new Set(noted.map(({ key }) => key)).size).toBe(1);
    expect(noted.at(-1)!.attempt).toBe(2);
    expect((await (await openByExternalId(runtime, 'note')).history()).map(({ content }) => content)).toEqual([
      'note 1',
      '',
      'note 1',
      'did note 1',
    ]);
    const charged = await openByExternalId(runtime, 'charge');
    const { awaiting } = await charged.status();
    expect(awaiting).toMatchObject([{ toolName: 'charge', reason: 'unknown' }]);
    const settlement =
      happened === 1
        ? ({ outcome: 'succeeded', output: 'charge 1', by: 'ann' } as const)
        : ({ outcome: 'runAgain', by: 'ann' } as const);
    const run = await charged.settle(awaiting[0]!.executionId, settlement);
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'did charge 1' });
    const charges = acts().filter(({ tool }) => tool === 'charge');
    expect(charges.map(({ key }) => key)).toEqual([awaiting[0]!.idempotencyKey]);
  }

  test.each([
    ['before the act', 'beforeAct', 0],
    ['after the act', 'afterAct', 1],
    ['after the tool returned and before the record', 'afterEffect of tool', 1],
  ] as const)('C02 C04 killed %s: repeated only where the class allows', async (_, stopAt, happened) => {
    const killed = await killScene(await freshDatabase());
    await killed.kill({ sessions: { note: 'note 1', charge: 'charge 1' }, stopAt }, 2);
    await checkKilled(killed, happened);
  });

  test('C02 C04 killed when the record is written and not committed: repeated only where the class allows', async () => {
    const killed = await killScene(await freshDatabase());
    const inRecord = { stopAt: 'afterStatement of record' };
    await killed.kill({ sessions: { note: 'note 1' }, ...inRecord });
    await killed.kill({ sessions: { charge: 'charge 1' }, ...inRecord });
    await checkKilled(killed, 1);
  });

  test('C28 killed in the middle of parallel calls, then a message: every call is answered first', async () => {
    const { kill, resume, acts } = await killScene(await freshDatabase());
    await kill({ sessions: { one: 'note 1, note 2, note 3' }, stopAt: 'afterAct', occurrence: 2 });
    const runtime = await resume();
    const session = await openByExternalId(runtime, 'one');
    const run = await session.send('hello');
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'heard hello' });
    const history = await session.history();
    expect(history.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'tool',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(history.slice(2, 5).map(({ content }) => content)).toEqual(['note 1', 'note 2', 'note 3']);
    expect(new Set(acts().map(({ key }) => key)).size).toBe(3);
  });

  test('C22 killed during the creation of a session: nothing is left of it, or all', async () => {
    const { kill, resume } = await killScene(await freshDatabase());
    const places = ['afterStatement of creation', 'afterCommit of creation'];
    for (const stopAt of places) await kill({ sessions: { [stopAt]: null }, stopAt });
    const runtime = await resume();
    const found = await runtime.sessions({ tenantId: 'tenant' });
    expect(found.map(({ externalId }) => externalId)).not.toContain(places[0]);
    expect(found.map(({ externalId }) => externalId)).toContain(places[1]);
    for (const externalId of places) {
      const options = { agent: 'worker', tenantId: 'tenant', userId: 'user', externalId };
      const session = await runtime.createSession(options);
      expect(await session.status()).toMatchObject({ state: 'IDLE', version: 0 });
      expect(await (await session.send('hello')).result()).toMatchObject({ reply: 'heard hello' });
    }
    expect(await runtime.sessions({ tenantId: 'tenant' })).toHaveLength(places.length);
  });
}
