import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  cannotTell,
  defineTool,
  done,
  notDone,
  type Reconciliation,
  type ToolContext,
  ToolError,
} from '../../../index.ts';
import { ManualClock } from '../../../testing/clock/manual-clock.ts';
import { openMortal, recoverLater } from '../../support/runtime-crash.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { LONG_MS, type OpenOptions, openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';

/** What one attempt comes to: it acts or not, and then returns or throws. */
interface Attempt {
  acts: boolean;
  throws?: () => unknown;
}

const LOST: Attempt = { acts: true, throws: () => new ToolError('the line went dead', { outcome: 'unknown' }) };
const REFUSED: Attempt = { acts: false, throws: () => new Error('the bank is closed') };
const BUSY: Attempt = { acts: false, throws: () => new ToolError('busy', { retryable: true }) };
const ACTS: Attempt = { acts: true };

type Effect = 'readOnly' | 'idempotent' | 'nonRepeatable' | 'reconcilable';

/** An attempt that may have acted is not forgotten when a later one fails. */
onPostgres((database) => {
  /** An agent whose model asks for one payment, twice; what the receiver booked, by key; and what is recorded. */
  function payments(effect: Effect, attempts: Attempt[], more: { retryMs?: number; says?: () => Reconciliation } = {}) {
    const name = `pay-${randomUUID().slice(0, 8)}`;
    const booked: string[] = [];
    const seen: number[] = [];
    const { retryMs, says = () => cannotTell('nobody keeps a list') } = more;
    const pay = defineTool({
      name,
      description: 'Pays.',
      inputSchema: z.object({ order: z.string() }),
      effect: effect as 'reconcilable',
      timeoutMs: LONG_MS,
      once: { per: 'tenant', key: ({ order }) => order },
      ...(retryMs === undefined ? {} : { retry: { attempts: 5, backoff: { initialMs: retryMs, jitter: 0 } } }),
      execute: (_: unknown, { idempotencyKey }: ToolContext) => {
        const { acts, throws } = attempts[seen.length] ?? ACTS;
        seen.push(seen.length + 1);
        if (acts) booked.push(idempotencyKey);
        if (throws !== undefined) throw throws();
        return 'paid';
      },
      ...(effect === 'reconcilable' ? { reconcile: () => says() } : {}),
    } as Parameters<typeof defineTool>[0]);
    const asks = { toolCalls: [call(name, { order: '42' })] };
    const agent = scriptedAgent(eachRun(asks, asks, 'done'), [pay]);
    const rows = async () =>
      await database().query(
        `SELECT status, attempt, unknown_reason, settled_by, error_code, error_message
           FROM turnlock.agent_tool_executions WHERE tool_name = $1 ORDER BY attempt DESC`,
        [name],
      );
    const claim = async () =>
      (await database().query('SELECT state FROM turnlock.agent_idempotency_claims WHERE tool_name = $1', [name]))[0]
        ?.state;
    return { agent, booked, seen, rows, claim };
  }

  async function play(of: ReturnType<typeof payments>, options: OpenOptions = {}) {
    const runtime = await openRuntime(database(), [of.agent], options);
    const session = await openSession(runtime, of.agent);
    return { session, result: await (await session.send('go')).result() };
  }

  test.each<[string, Attempt[], number | undefined]>([
    ['said that it does not know', [LOST, REFUSED], undefined],
    ['said that it does not know, and is tried again later', [LOST, BUSY, REFUSED, REFUSED, REFUSED], 0],
  ])(
    'idempotent: an attempt %s, the last one fails: the outcome is unknown, and the key stays held',
    async (_, attempts, retryMs) => {
      const paid = payments('idempotent', attempts, retryMs === undefined ? {} : { retryMs });
      const { result, session } = await play(paid);
      expect(result).toMatchObject({ state: 'IDLE', reply: 'done' });
      expect(await paid.rows()).toMatchObject([
        {
          status: 'TIMED_OUT',
          attempt: attempts.length,
          error_code: 'TOOL_OUTCOME_UNKNOWN',
          error_message: expect.stringContaining('the bank is closed'),
        },
        { status: 'FAILED', attempt: 0, error_code: 'CLAIM_HELD' },
      ]);
      expect([paid.booked.length, await paid.claim()]).toEqual([1, 'held']);
      const told = (await session.history())[2]!;
      expect(told).toMatchObject({
        content: expect.stringContaining('It may have taken effect'),
        parts: [{ outcome: 'unknown' }],
      });
      expect(await session.replay()).toMatchObject({ findings: [] });
    },
  );

  test('idempotent: a process dies after it acted, and the next attempt is refused: the same', async () => {
    const paid = payments('idempotent', [ACTS, REFUSED]);
    const where = ({ executionId }: { executionId?: string }) => executionId !== undefined;
    const { runtime, plan } = await openMortal(
      database(),
      [paid.agent],
      [{ point: 'afterEffect', fault: 'crash', where }],
    );
    const { sessionId } = await openSession(runtime, paid.agent);
    await (await runtime.session({ sessionId, tenantId: 'tenant' })).send('go');
    await plan.struck;
    const { recoveries } = await recoverLater(database(), [paid.agent]);
    expect(recoveries).toMatchObject([{ state: 'IDLE' }]);
    expect(await paid.rows()).toMatchObject([
      { status: 'TIMED_OUT', error_message: expect.stringContaining('its process died') },
      { error_code: 'CLAIM_HELD' },
    ]);
    expect([paid.booked.length, await paid.claim()]).toEqual([1, 'held']);
  });

  test('a later attempt that succeeds is a success', async () => {
    const paid = payments('idempotent', [LOST, BUSY, ACTS], { retryMs: 0 });
    await play(paid);
    expect((await paid.rows())[0]).toMatchObject({ status: 'SUCCESS', attempt: 3 });
    expect([new Set(paid.booked).size, await paid.claim()]).toEqual([1, 'succeeded']);
  });

  test('readOnly: there is nothing that may have happened', async () => {
    const paid = payments('readOnly', [LOST, REFUSED]);
    await play(paid);
    expect((await paid.rows())[0]).toMatchObject({ status: 'FAILED', error_message: 'the bank is closed' });
  });

  test('a cancel while it waits to be tried again: what may have acted is not told as not done', async () => {
    const paid = payments('idempotent', [LOST], { retryMs: LONG_MS });
    const runtime = await openRuntime(database(), [paid.agent]);
    const session = await openSession(runtime, paid.agent);
    for await (const event of await session.send('go')) {
      if (event.type === 'transition' && event.event.type === 'tool.attemptFailed') break;
    }
    await session.cancel({ by: 'ann' });
    expect(await paid.rows()).toMatchObject([{ status: 'TIMED_OUT', attempt: 1 }]);
    expect([paid.booked.length, await paid.claim()]).toEqual([1, 'held']);
    const [{ execution_id: executionId }] = await database().query(
      'SELECT execution_id FROM turnlock.agent_tool_executions WHERE session_id = $1',
      [session.sessionId],
    );
    await session.settle(executionId, { outcome: 'failed', reason: 'the bank knows of nothing', by: 'ann' });
    expect(await paid.rows()).toMatchObject([{ status: 'FAILED', settled_by: 'ann' }]);
    expect(await paid.claim()).toBe('free');
  });

  test('a cancel while it waits to be tried again, every attempt of which failed: it did nothing', async () => {
    const paid = payments('idempotent', [BUSY], { retryMs: LONG_MS });
    const runtime = await openRuntime(database(), [paid.agent]);
    const session = await openSession(runtime, paid.agent);
    for await (const event of await session.send('go')) {
      if (event.type === 'transition' && event.event.type === 'tool.attemptFailed') break;
    }
    await session.cancel({ by: 'ann' });
    expect(await paid.rows()).toMatchObject([{ status: 'FAILED' }]);
    expect(await paid.claim()).toBe('free');
  });

  test('a late word that the last attempt failed leaves it unknown; that it succeeded settles it', async () => {
    const paid = payments('idempotent', [LOST, REFUSED]);
    const { session } = await play(paid);
    const [{ execution_id: executionId }] = await database().query(
      `SELECT execution_id FROM turnlock.agent_tool_executions WHERE session_id = $1 AND status = 'TIMED_OUT'`,
      [session.sessionId],
    );
    const comesLate = async (outcome: 'failed' | 'succeeded') => {
      await database().query(
        `INSERT INTO turnlock.agent_tool_evidence (tenant_id, session_id, execution_id, attempt, token, outcome, output, error_code, error_message)
         VALUES ('tenant', $1, $2, 2, 1, $3, '"paid"', 'TOOL_FAILED', 'the bank is closed')`,
        [session.sessionId, executionId, outcome],
      );
      const { turnIndex } = (await session.history()).at(-1)!;
      await (await session.send('and now?')).result();
      return (await session.history()).find((turn) => turn.role === 'system' && turn.turnIndex > turnIndex)?.content;
    };
    expect(await comesLate('failed')).toContain('so the outcome is still unknown');
    expect([(await paid.rows())[0]!.status, await paid.claim()]).toEqual(['TIMED_OUT', 'held']);
    expect(await comesLate('succeeded')).toContain('It succeeded. Its result: paid');
    expect([(await paid.rows())[0]!.status, await paid.claim()]).toEqual(['SUCCESS', 'succeeded']);
  });

  test.each<Effect>(['nonRepeatable', 'reconcilable'])(
    '%s: a person sends it again, and it is refused: a person is asked once more, and what they say counts',
    async (effect) => {
      const paid = payments(effect, [LOST, REFUSED]);
      const { session, result } = await play(paid);
      const executionId = result.awaiting[0]!.executionId;
      const again = await (await session.settle(executionId, { outcome: 'runAgain', by: 'ann' })).result();
      expect(again).toMatchObject({ state: 'AWAITING_INPUT', awaiting: [{ executionId, reason: 'unknown' }] });
      expect(await paid.rows()).toMatchObject([{ status: 'RUNNING', attempt: 2, unknown_reason: 'reported' }]);
      expect([paid.booked.length, await paid.claim()]).toEqual([1, 'held']);
      const reason = 'the bank knows of nothing';
      const end = await (await session.settle(executionId, { outcome: 'failed', reason, by: 'ann' })).result();
      expect(end).toMatchObject({ state: 'IDLE', reply: 'done' });
      expect((await paid.rows())[0]).toMatchObject({ status: 'FAILED', settled_by: 'ann', error_message: reason });
      expect(await session.replay()).toMatchObject({ findings: [] });
    },
  );

  test.each<[string, () => Reconciliation, object]>([
    [
      'not done: it has failed, as its last attempt said',
      notDone,
      { status: 'FAILED', error_message: 'the bank is closed' },
    ],
    ['done: it has succeeded', () => done('paid'), { status: 'SUCCESS', error_message: null }],
  ])('reconcilable: before a person is asked once more, its tool is. %s', async (_, found, row) => {
    let says: () => Reconciliation = () => cannotTell('the list is closed');
    const asked: string[] = [];
    const paid = payments('reconcilable', [LOST, REFUSED], {
      says: () => {
        asked.push('asked');
        return says();
      },
    });
    const clock = new ManualClock();
    const { session, result } = await play(paid, { environment: clock });
    says = found;
    const run = await session.settle(result.awaiting[0]!.executionId, { outcome: 'runAgain', by: 'ann' });
    // That it did not happen counts once nothing of it can be under way any more.
    await waitFor(() => asked.length === 2, { for: 'the tool to be asked' });
    clock.advance(2 * LONG_MS);
    await run.result();
    expect((await paid.rows())[0]).toMatchObject({ attempt: 2, settled_by: 'reconcile', ...row });
  });
});
