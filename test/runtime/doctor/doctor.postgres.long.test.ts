import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  DOCTOR_CODES,
  type DoctorFinding,
  defineTool,
  type Runtime,
  requireApproval,
  type Session,
} from '../../../index.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';
import { CORRUPTIONS, type Corruption, corrupt } from './corruptions.ts';

onPostgres((database) => {
  /** A session of a tenant of its own, left as `scene` says. */
  async function play(scene: Corruption['scene']): Promise<{ runtime: Runtime; session: Session }> {
    const out = gate();
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: z.object({ n: z.int() }),
      effect: 'nonRepeatable',
      once: { per: 'tenant', key: ({ n }) => String(n) },
      policy: () => (scene === 'asking' ? requireApproval() : { type: 'allow' }),
      execute: async () => {
        if (scene === 'busy') await out.opened;
        return 'paid';
      },
    });
    const calls = { toolCalls: [call('pay', { n: 1 }), call('pay', { n: 2 })] };
    const agent = scriptedAgent(eachRun(calls, 'done'), [pay]);
    const runtime = await openRuntime(database(), [agent], { onAwaiting: () => undefined });
    atTestEnd(out.open);
    const session = await openSession(runtime, agent, { tenantId: agent.name });
    const run = await session.send('go');
    if (scene !== 'busy') await run.result();
    const wanted = { done: 'IDLE', asking: 'AWAITING_INPUT', busy: 'EXECUTING_TOOL' }[scene];
    await waitFor(async () => (await session.status()).state === wanted, { for: wanted });
    if (scene === 'asking') await waitFor(() => areAnnounced(session), { for: 'people to be told' });
    return { runtime, session };
  }

  const areAnnounced = async ({ sessionId }: Session) =>
    (
      await database().query(
        'SELECT FROM turnlock.agent_approvals WHERE session_id = $1 HAVING bool_and(announced_at IS NOT NULL)',
        [sessionId],
      )
    ).length > 0;

  const findingsOf = async (runtime: Runtime, { tenantId, sessionId }: Session) =>
    (await runtime.doctor({ tenantId, sessionId })).findings.filter((finding) => finding.sessionId === sessionId);

  test.each(CORRUPTIONS)('$code: $title', async ({ scene, statements, code, place = /^/, found = /^/ }) => {
    const { runtime, session } = await play(scene);
    expect(await findingsOf(runtime, session)).toEqual([]);
    for (const statement of statements) await corrupt(database(), [statement], [session.sessionId]);
    const findings = await findingsOf(runtime, session);
    const { tenantId, sessionId } = session;
    const { severity, says, repair } = DOCTOR_CODES[code];
    const named = findings.find(
      (finding) => finding.code === code && place.test(finding.place ?? '') && found.test(finding.found),
    );
    expect(named, JSON.stringify(findings)).toMatchObject({ tenantId, sessionId, severity, says, repair });
    // The tenant's other sessions and other tenants are not blamed, and a look at the tenant finds the same.
    const { findings: ofTenant, sessions } = await runtime.doctor({ tenantId, pageSize: 1 });
    expect(sessions).toBe(1);
    const inShort = (all: DoctorFinding[]) => all.map((one) => `${one.code} ${one.sessionId} ${one.place}`);
    expect(inShort(ofTenant.filter((finding) => finding.sessionId !== null))).toEqual(inShort(findings));
  });

  test('everything that doctor finds in sessions was corrupted here', () => {
    const inSessions = Object.entries(DOCTOR_CODES).filter(([, { about }]) => about === 'session');
    expect([...new Set(CORRUPTIONS.map(({ code }) => code))].sort()).toEqual(inSessions.map(([code]) => code).sort());
  });

  test('C27 what hangs is released by the command that is told, and another worker goes on', async () => {
    const { runtime, session } = await play('busy');
    await corrupt(
      database(),
      [`UPDATE turnlock.agent_tool_executions SET deadline_at = deadline_at - interval '1 hour' WHERE session_id = $1`],
      [session.sessionId],
    );
    const [stuck] = await findingsOf(runtime, session);
    expect(stuck).toMatchObject({ code: 'STUCK_AT_WORK' });
    expect(stuck!.commands[0]!.slice(0, 3)).toEqual(['turnlock', 'release', session.sessionId]);
    expect(await session.release({ by: 'ann' })).toBe(true);
    // Whoever waits for the run in this process may have gone on with it first.
    await runtime.recover();
    await waitFor(async () => (await session.status()).state === 'AWAITING_INPUT', { for: 'a person to be asked' });
    expect((await session.explain()).waitsFor.map(({ kind }) => kind)).toEqual(['unknown', 'unknown']);
    expect(await findingsOf(runtime, session)).toEqual([]);
  });

  test('findings are bounded, counted and told as they are made; the examination can be ended', async () => {
    const { runtime, session } = await play('done');
    await corrupt(
      database(),
      [`UPDATE turnlock.agent_turns SET role = 'system' WHERE session_id = $1`],
      [session.sessionId],
    );
    const told: string[] = [];
    const { tenantId } = session;
    const report = await runtime.doctor({ tenantId, maxFindings: 1, onFinding: ({ code }) => told.push(code) });
    expect(report).toMatchObject({
      isCut: true,
      sessions: 1,
      counts: { HISTORY_INVALID: told.filter((code) => code === 'HISTORY_INVALID').length },
    });
    expect(report.errors + report.warnings).toBe(told.length);
    expect(report.findings).toHaveLength(1);
    const ended = await runtime.doctor({ tenantId, signal: AbortSignal.abort() });
    expect(ended.sessions).toBe(0);
  });

  test('what cannot be examined is refused', async () => {
    const { runtime, session } = await play('done');
    const { tenantId, sessionId } = session;
    for (const [options, code] of [
      [{ sessionId }, 'OPTIONS_INVALID'],
      [{ tenantId, all: true }, 'OPTIONS_INVALID'],
      [{ pageSize: 0 }, 'OPTIONS_INVALID'],
      [{ deep: true }, 'OPTIONS_INVALID'],
      [{ tenantId: 'other', sessionId }, 'SESSION_NOT_FOUND'],
      [{ tenantId, sessionId: 'x' }, 'VALUE_INVALID'],
    ] as const) {
      await expect(runtime.doctor(options as never)).rejects.toMatchObject({ code });
    }
  });
});
