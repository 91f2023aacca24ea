import { expect, test } from 'vitest';
import { createRuntime } from '../../../index.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runTurnlock } from './run-turnlock.ts';
import { supportAgent } from './support-agent.ts';

onPostgres((database) => {
  test('freeze, budget, controls, unfreeze: what is put is listed, holds the starts of another process, and ends', async () => {
    const folder = await temporaryFolder('turnlock-controls-');
    const command = (...args: string[]) => runTurnlock(folder, args, { TURNLOCK_DATABASE_URL: database().url });
    const turnlock = async (...args: string[]) => {
      const { stdout } = await command(...args, '--json');
      const lines = stdout.split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line));
    };
    const open = () => createRuntime({ database: database().adapter(), agents: [supportAgent()] });
    const run = async () => {
      const runtime = await open();
      const session = await runtime.createSession({ agent: 'support', tenantId: 'acme', userId: 'ana' });
      const { state } = await (await session.send('refund')).result();
      const [asked] = await runtime.awaiting({ tenantId: 'acme', sessionId: session.sessionId });
      await runtime.close();
      return [state, asked?.reason, asked?.question];
    };
    const frozen = await turnlock('freeze', '--tool', 'refund', '--tenant', 'acme', '--reason', 'audit');
    expect(frozen).toMatchObject([
      { kind: 'freeze', toolName: 'refund', tenantId: 'acme', unit: null, reason: 'audit' },
    ]);
    await turnlock('budget', '--all-tools', '--money', '99.5');
    expect(await turnlock('controls')).toMatchObject([
      { kind: 'freeze', controlId: frozen[0].controlId },
      { kind: 'budget', toolName: null, tenantId: null, unit: 'microMoney', dailyLimit: 99_500_000 },
    ]);
    expect(await run()).toEqual(['AWAITING_INPUT', 'approval', 'The tool refund is frozen: audit.']);

    const misspelt = await command('freeze', '--tool', 'refnd', '--tenant', 'acmee');
    expect([misspelt.code, misspelt.stdout]).toEqual([6, expect.stringContaining('refnd')]);
    expect(misspelt.stderr).toMatch(/no tool is known by the name "refnd".*\n.*tenant "acmee" has no session/);
    expect(await turnlock('unfreeze', '--tool', 'refnd', '--tenant', 'acmee')).toHaveLength(1);
    const nothing = await command('unfreeze', '--tool', 'refnd');
    expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining('Nothing is frozen')]);

    expect(await turnlock('unfreeze', '--tool', 'refund')).toEqual([]);
    expect(await turnlock('unfreeze', '--tool', 'refund', '--tenant', 'acme')).toHaveLength(1);
    await turnlock('budget', '--tool', 'refund', '--calls', '0');
    expect((await run())[2]).toBe('The budget of 0 calls of refund a day is used up: 0 today (UTC).');
    await turnlock('budget', '--tool', 'refund', '--calls', 'none');
    await turnlock('budget', '--all-tools', '--money', 'none');
    expect(await turnlock('controls')).toEqual([]);
  });
});
