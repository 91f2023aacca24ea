import { expect, test, vi } from 'vitest';
import { inspector } from '../../../adapters/inspector/inspector.ts';
import { requireApproval, ToolError } from '../../../index.ts';
import type { Awaiting } from '../../../persistence/list-awaiting.ts';
import { onPglite } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';
import { fieldsOf, getPage, sendForm } from './inspect-page.ts';

let tenants = 0;

/** A lead of a tenant that no other test has. */
function newViewer() {
  tenants += 1;
  return { tenantId: `tenant-${tenants}`, by: 'ana', roles: ['lead'] };
}

onPglite((database) => {
  /** A session that waits for a refund to be approved, and the inspector of its runtime. */
  async function asked(params: { [name: string]: unknown } = { orderId: 42 }) {
    const ran: unknown[] = [];
    const refund = looseTool('refund', (given) => ran.push(given), {
      policy: () => requireApproval({ approvers: { roles: ['lead'] } }),
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('refund', params)] }), [refund]);
    const viewer = newViewer();
    const { tenantId } = viewer;
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent, { tenantId });
    await (await session.send('refund')).result();
    const [round] = (await runtime.awaiting({ tenantId })) as [Awaiting];
    const handler = inspector(runtime, { viewer, decide: true, basePath: '/i' });
    return { viewer, ran, runtime, session, round, handler };
  }

  test('a call is approved by its form, once however often it is sent, and its page says by whom', async () => {
    const { ran, session, round, handler } = await asked();
    const page = await getPage(handler, '/i/awaiting');
    expect(page.text).toContain('"orderId": 42');
    const fields = fieldsOf(page, 'approve');
    expect(fields).toMatchObject({ digest: round.digest, approval: round.approvalId, execution: round.executionId });
    const answers = await Promise.all([sendForm(handler, '/i/decide', fields), sendForm(handler, '/i/decide', fields)]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    const location = answers[0]?.headers.get('location') ?? '';
    expect(answers[1]?.headers.get('location')).toBe(location);
    await waitFor(async () => (await session.status()).state === 'IDLE', { for: 'the session to rest' });
    expect(ran).toEqual([{ orderId: 42 }]);
    const result = await getPage(handler, location);
    expect(result.text).toContain('Approved: refund');
    expect(result.text).toMatch(/Approved by ana/);
    expect(result.text).toContain('Succeeded');
    const again = await sendForm(handler, '/i/decide', fields);
    expect([again.status, again.headers.get('location')]).toEqual([303, location]);
    expect(ran).toHaveLength(1);
  });

  test('params that changed since they were shown are not approved: the page shows them as they are now', async () => {
    const { ran, session, round, handler } = await asked();
    const fields = fieldsOf(await getPage(handler, '/i/awaiting'), 'approve');
    const answer = await sendForm(handler, '/i/decide', { ...fields, digest: 'd'.repeat(64) });
    expect(answer.status).toBe(409);
    const page = await answer.text();
    expect(page).toContain('Nothing was decided');
    expect(page).toContain('APPROVAL_STALE');
    expect(page).toContain(`value="${round.digest}"`);
    expect([(await session.status()).state, ran]).toEqual(['AWAITING_INPUT', []]);
  });

  test('a refusal wants a reason, which the model is told; what is missing is said beside the question', async () => {
    const { ran, session, handler } = await asked();
    const fields = fieldsOf(await getPage(handler, '/i/awaiting'), 'deny');
    const without = await sendForm(handler, '/i/decide', { ...fields, reason: ' ' });
    expect(without.status).toBe(422);
    expect(await without.text()).toContain('Nothing was decided');
    await sendForm(handler, '/i/decide', { ...fields, reason: 'No claim.\r\nSee policy.' });
    await waitFor(async () => (await session.status()).state === 'IDLE', { for: 'the session to rest' });
    const told = (await session.history()).map(({ content }) => content).join('\n');
    expect(told).toContain('No claim.');
    expect(ran).toEqual([]);
  });

  test('params of a person’s own run in place of the model’s; what is no JSON is refused', async () => {
    const { ran, session, handler } = await asked();
    const fields = fieldsOf(await getPage(handler, '/i/awaiting'), 'approve');
    expect((await sendForm(handler, '/i/decide', { ...fields, params: '{orderId}' })).status).toBe(422);
    await sendForm(handler, '/i/decide', { ...fields, params: '{"orderId": 43}' });
    await waitFor(async () => (await session.status()).state === 'IDLE', { for: 'the session to rest' });
    expect(ran).toEqual([{ orderId: 43 }]);
  });

  test('params that are too long to be read among others are decided where all of them are shown', async () => {
    const names = Array.from({ length: 1_000 }, (_, place) => [`name-${place}`, 'x'] as const);
    const { session, handler } = await asked(Object.fromEntries(names));
    const list = await getPage(handler, '/i/awaiting');
    expect(list.text).not.toContain('"name-999"');
    expect(() => fieldsOf(list, 'approve')).toThrow('no form');
    const whole = list.tags.find(({ attributes }) => attributes.get('href')?.includes('#ask-'));
    const page = await getPage(handler, whole?.attributes.get('href') ?? '');
    expect(page.text).toContain('"name-999"');
    const stale = await sendForm(handler, '/i/decide', { ...fieldsOf(page, 'approve'), digest: 'd'.repeat(64) });
    expect([stale.status, (await stale.text()).includes('name-999')]).toEqual([409, true]);
    expect((await session.status()).state).toBe('AWAITING_INPUT');
  });

  test('of two people who decide differently at once one has decided, and both are shown what', async () => {
    const { ran, session, handler } = await asked();
    const page = await getPage(handler, '/i/awaiting');
    const answers = await Promise.all([
      sendForm(handler, '/i/decide', fieldsOf(page, 'approve')),
      sendForm(handler, '/i/decide', { ...fieldsOf(page, 'deny'), reason: 'No claim.' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    await waitFor(async () => (await session.status()).state === 'IDLE', { for: 'the session to rest' });
    const shown = await Promise.all(answers.map(({ headers }) => getPage(handler, headers.get('location') ?? '')));
    const word = ran.length === 1 ? 'Approved: refund' : 'Denied: refund';
    expect(shown.map(({ text }) => text.includes(word))).toEqual([true, true]);
  });

  test('a decision about a run that was cancelled meanwhile decides nothing, and says so', async () => {
    const { ran, session, handler } = await asked();
    const fields = fieldsOf(await getPage(handler, '/i/awaiting'), 'approve');
    await session.cancel({ by: 'ana' });
    const late = await sendForm(handler, '/i/decide', fields);
    const page = await getPage(handler, late.headers.get('location') ?? '');
    expect([late.status, page.text.includes('The run was cancelled: refund'), ran]).toEqual([303, true, []]);
  });

  test('whom the policy does not name sees whom it names, and no form', async () => {
    const { viewer, runtime, round } = await asked();
    const handler = inspector(runtime, { viewer: { ...viewer, roles: [] }, decide: true });
    const page = await getPage(handler, '/awaiting');
    expect(page.text).toContain('role "lead"');
    expect(() => fieldsOf(page, 'approve')).toThrow('no form');
    const { approvalId: approval, executionId: execution, sessionId: session, digest } = round;
    const sent = await sendForm(handler, '/decide', { way: 'approve', approval, execution, session, digest });
    expect(sent.status).toBe(403);
  });

  test('an inspector that is read only shows no form and takes none', async () => {
    const { viewer, runtime, session, round } = await asked();
    const handler = inspector(runtime, { viewer });
    const page = await getPage(handler, '/awaiting');
    expect(page.text).toContain('refund');
    expect(page.tags.filter(({ name, attributes }) => name === 'form' && attributes.get('method') === 'post')).toEqual(
      [],
    );
    const { approvalId: approval, executionId: execution, digest } = round;
    const fields = { way: 'approve', approval, execution, session: session.sessionId, digest };
    expect((await sendForm(handler, '/decide', fields)).status).toBe(422);
    expect((await session.status()).state).toBe('AWAITING_INPUT');
  });

  test('a call of unknown outcome that is to run again, sent twice at once, runs once more', async () => {
    const starts: unknown[] = [];
    const book = looseTool(
      'book',
      (params) => {
        starts.push(params);
        if (starts.length === 1) throw new ToolError('no answer', { outcome: 'unknown' });
        return 'booked';
      },
      { effect: 'nonRepeatable' },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('book', { seat: '12A' })] }), [book]);
    const viewer = newViewer();
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent, { tenantId: viewer.tenantId });
    await (await session.send('book')).result();
    const handler = inspector(runtime, { viewer, decide: true });
    const again = fieldsOf(await getPage(handler, '/awaiting'), 'runAgain');
    const answers = await Promise.all([again, again].map((fields) => sendForm(handler, '/decide', fields)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    await waitFor(async () => (await session.status()).state === 'IDLE', { for: 'the session to rest' });
    expect(starts).toHaveLength(2);
  });

  test('an unknown outcome is settled with what the tool would have returned', async () => {
    const hang = looseTool('book', () => new Promise(() => undefined), { effect: 'nonRepeatable', timeoutMs: 700 });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('book', { seat: '12A' })] }), [hang]);
    const viewer = newViewer();
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent, { tenantId: viewer.tenantId });
    const result = await (await session.send('book')).result();
    expect(result).toMatchObject({ awaiting: [{ reason: 'unknown' }] });
    const handler = inspector(runtime, { viewer, decide: true });
    const page = await getPage(handler, '/awaiting?reason=unknown');
    expect(page.text).toContain('It gave no answer in time.');
    const fields = fieldsOf(page, 'succeeded');
    const answer = await sendForm(handler, '/decide', { ...fields, output: '{"seat":"12A"}' });
    expect((await getPage(handler, answer.headers.get('location') ?? '')).text).toMatch(/Settled by ana/);
    await waitFor(async () => (await session.status()).state === 'IDLE', { for: 'the session to rest' });
  });

  test('what a page says of an outcome is not said of that of a later attempt, which began while the form was on its way', async () => {
    const starts: unknown[] = [];
    const book = looseTool(
      'book',
      (params) => {
        starts.push(params);
        throw new ToolError('no answer', { outcome: 'unknown' });
      },
      { effect: 'nonRepeatable' },
    );
    const agent = scriptedAgent(eachRun({ toolCalls: [call('book', { seat: '12A' })] }), [book]);
    const viewer = newViewer();
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent, { tenantId: viewer.tenantId });
    const { awaiting } = await (await session.send('book')).result();
    const { executionId, approvalId } = awaiting[0]!;
    const handler = inspector(runtime, { viewer, decide: true });
    const fields = fieldsOf(await getPage(handler, '/awaiting'), 'succeeded');
    const open = runtime.session;
    // Between the inspector's look at the question and its commit.
    vi.spyOn(runtime, 'session').mockImplementationOnce(async (reference) => {
      await (await session.settle(executionId, { outcome: 'runAgain', by: 'bob' })).result();
      return open(reference);
    });
    const answer = await sendForm(handler, '/decide', { ...fields, output: '{"seat":"12A"}' });
    expect(answer.status).toBe(303);
    expect(starts).toHaveLength(2);
    const status = await session.status();
    expect(status).toMatchObject({ state: 'AWAITING_INPUT', awaiting: [{ executionId, reason: 'unknown' }] });
    expect(status.awaiting[0]!.approvalId).not.toBe(approvalId);
  });
});
