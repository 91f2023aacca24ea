import { expect, test } from 'vitest';
import { inspector } from '../../../adapters/inspector/inspector.ts';
import { requireApproval } from '../../../index.ts';
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
  async function asked() {
    const ran: unknown[] = [];
    const refund = looseTool('refund', (params) => ran.push(params), {
      policy: () => requireApproval({ approvers: { roles: ['lead'] } }),
    });
    const agent = scriptedAgent(eachRun({ toolCalls: [call('refund', { orderId: 42 })] }), [refund]);
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
});
