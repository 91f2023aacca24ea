import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createRuntime, defineAgent, defineTool, requireApproval } from '../../../index.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runTurnlock } from './run-turnlock.ts';
import { supportAgent } from './support-agent.ts';

/** The support agent of the configuration, whose refunds a person must approve. */
function askingAgent() {
  const { name, model, tools } = supportAgent();
  const { inputSchema, execute } = tools.get('refund')!;
  const policy = () => requireApproval({ question: 'Pay it back?', approvers: { roles: ['manager'] } });
  const refund = defineTool({ name: 'refund', description: 'Pays back.', inputSchema, policy, execute });
  return defineAgent({ name, model, instructions: 'Help.', tools: [refund] });
}

onPostgres((database) => {
  test('awaiting, approve, deny: what is asked is listed with the commands that answer it, and they do', async () => {
    const folder = await temporaryFolder('turnlock-decide-');
    const turnlock = (...args: string[]) => runTurnlock(folder, args, { TURNLOCK_DATABASE_URL: database().url });
    const runtime = await createRuntime({ database: database().adapter(), agents: [askingAgent()] });
    const ask = async () => {
      const session = await runtime.createSession({ agent: 'support', tenantId: 'acme', userId: 'ana' });
      await (await session.send('refund')).result();
      return session.sessionId;
    };
    const [approved, denied] = [await ask(), await ask()];
    await runtime.close();
    const lines = await turnlock('awaiting', '--tenant', 'acme', '--json');
    const asked = lines.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(asked).toMatchObject([
      { sessionId: approved, question: 'Pay it back?', reason: 'approval', params: { orderId: 42 } },
      { sessionId: denied },
    ]);
    const text = await turnlock('awaiting', '--tenant', 'acme');
    const exact = `--digest ${asked[0].digest} --approval ${asked[0].approvalId}`;
    expect(text.stdout).toContain(`turnlock approve ${asked[0].executionId} ${exact}`);
    expect(text.stdout).toContain('--role manager --by WHO');
    expect(text.stdout).toContain('decided by role "manager"');

    await writeFile(
      join(folder, 'turnlock.config.ts'),
      `export { config as default } from ${JSON.stringify(resolve('test/adapters/cli/support.config.ts'))};\n`,
    );
    const of = (place: number) => [asked[place].executionId, '--session', asked[place].sessionId, '--tenant', 'acme'];
    const stranger = await turnlock('approve', ...of(0), '--by', 'bob', '--json');
    expect(JSON.parse(stranger.stderr).error.code).toBe('APPROVER_NOT_ALLOWED');
    const yes = await turnlock('approve', ...of(0), '--by', 'bob', '--role', 'manager', '--json');
    expect(JSON.parse(yes.stdout), yes.stderr).toMatchObject({ isDriven: true, state: 'IDLE' });
    // Without the session's agent the decision alone is committed.
    const no = await turnlock(
      ...['deny', ...of(1), '--reason', 'too old', '--by', 'bob', '--role', 'manager', '--json'],
      ...['--config', 'none.config.ts'],
    );
    expect(no.code).not.toBe(0);
    await writeFile(join(folder, 'none.config.ts'), 'export default {};\n');
    const alone = await turnlock(
      ...['deny', ...of(1), '--reason', 'too old', '--by', 'bob', '--role', 'manager', '--json'],
      ...['--config', 'none.config.ts'],
    );
    expect(JSON.parse(alone.stdout), alone.stderr).toMatchObject({ isDriven: false, state: 'PLANNING' });
    const none = await turnlock('awaiting', '--tenant', 'acme');
    expect(none.stderr).toContain('Nobody is asked anything.');
  });
});
