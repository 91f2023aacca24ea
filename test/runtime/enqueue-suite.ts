import { expect, test } from 'vitest';
import { askUser, type Session } from '../../index.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, eachRun } from '../support/runtime-script.ts';
import { echoAgent, enqueue, rowsOf, typesOf, userTexts } from './inbox-scene.ts';

/** Messages that another program puts into the inbox, in SQL. */
export const describeEnqueue: RuntimeSuite = (database) => {
  const rows = (sessionId: string) => rowsOf(database(), sessionId);

  test('turnlock.enqueue from SQL: a message to a session at rest is found by recover, and is one turn with its id', async () => {
    const { agent } = echoAgent();
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const [row] = await enqueue(database(), session, 'm1', 'hello');
    expect(row).toMatchObject({ is_new: true });
    expect(await enqueue(database(), session, 'm1', 'hello')).toMatchObject([
      { is_new: false, enqueued_run_id: row.enqueued_run_id },
    ]);
    expect(await runtime.recover()).toMatchObject([{ sessionId: session.sessionId, state: 'IDLE' }]);
    const again = await session.send('hello', { messageId: 'm1' });
    expect(again).toMatchObject({ repeated: true, runId: row.enqueued_run_id });
    expect(await again.result()).toMatchObject({ reply: 'heard hello' });
    await enqueue(database(), session, 'm1', 'hello');
    expect(await runtime.recover()).toMatchObject([{ sessionId: session.sessionId, state: 'IDLE' }]);
    expect(await rows(session.sessionId)).toMatchObject([{ content: 'hello', rejected_code: 'MESSAGE_REPEATED' }]);
    await expect(enqueue(database(), session, 'm1', 'something else')).rejects.toThrow('another content');
    await (await session.send('second', { messageId: 'm2' })).result();
    await enqueue(database(), session, 'm2', 'something else');
    await runtime.recover();
    expect(await rows(session.sessionId)).toMatchObject([{}, { rejected_code: 'MESSAGE_CONFLICT' }]);
    expect(await userTexts(session)).toEqual(['hello', 'second']);
  });

  test('turnlock.enqueue from SQL to a busy session: its holder takes note at its next commit', async () => {
    const { agent, begun, open } = echoAgent();
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const first = await session.send('wait');
    await begun;
    await enqueue(database(), session, 'm1', 'one');
    await enqueue(database(), session, 'm2', 'refused', 'reject');
    const repeat = await session.send('one', { messageId: 'm1' });
    expect(repeat.repeated).toBe(true);
    open();
    expect(await first.result()).toMatchObject({ reply: 'waited' });
    expect(await repeat.result()).toMatchObject({ reply: 'heard one' });
    expect(await typesOf(session)).toEqual([
      'user.messaged',
      'model.calledTools',
      'tool.settled',
      'message.enqueued',
      'message.rejected',
      'model.replied',
      'user.messaged',
      'model.replied',
    ]);
    expect(await rows(session.sessionId)).toMatchObject([{ content: 'refused', rejected_code: 'SESSION_BUSY' }]);
  });

  test('turnlock.enqueue from SQL with interrupt: the run ends at its next commit', async () => {
    const { agent, begun, open } = echoAgent();
    const session = await openSession(await openRuntime(database(), [agent]), agent);
    const first = await session.send('wait');
    await begun;
    await enqueue(database(), session, 'm1', 'urgent', 'interrupt');
    open();
    expect(await first.result()).toMatchObject({ error: { code: 'RUN_CANCELLED' } });
    const repeat = await session.send('urgent', { messageId: 'm1' });
    expect(await repeat.result()).toMatchObject({ state: 'IDLE', reply: 'heard urgent' });
    expect(await userTexts(session)).toEqual(['wait', 'urgent']);
  });

  test('turnlock.enqueue from SQL: what cannot become a turn is refused with the reason', async () => {
    const { agent } = echoAgent();
    const runtime = await openRuntime(database(), [agent], { limits: { maxMessageBytes: 128 } });
    const session = await openSession(runtime, agent);
    await enqueue(database(), session, 'm1', 'x'.repeat(129));
    const odd = [
      { type: 'text', text: 'odd' },
      { type: 'toolCall', toolName: 'slow' },
    ];
    await enqueue(database(), session, 'm2', 'odd', 'enqueue', odd);
    await enqueue(database(), session, 'm3', 'good', 'enqueue', [{ type: 'text', text: 'good' }]);
    await runtime.recover();
    expect(await rows(session.sessionId)).toMatchObject([
      { rejected_code: 'VALUE_TOO_LARGE' },
      { rejected_code: 'VALUE_INVALID' },
    ]);
    expect(await userTexts(session)).toEqual(['good']);
    const refused = await session.send('x'.repeat(128), { messageId: 'm2' }).catch((error: { code: string }) => error);
    expect(refused).toMatchObject({ code: 'MESSAGE_CONFLICT' });
  });

  /** A message as another program writes it: its JSON is text, and may hold what no value of ours can. */
  function enqueueText(
    session: Session,
    content: string,
    more: { messageId?: string; metadata?: string; notes?: string },
  ) {
    const { messageId = null, metadata = '{}', notes = null } = more;
    return database().query(
      'SELECT turnlock.enqueue($1, $2, $3, $4, metadata => $5::text::jsonb, normalised => $6::text::jsonb)',
      [session.tenantId, session.sessionId, messageId, content, metadata, notes],
    );
  }

  test('turnlock.enqueue from SQL: a number that no double holds is refused on its row, whose id no other message has', async () => {
    const { agent } = echoAgent();
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await enqueueText(session, 'odd', { messageId: 'm1', metadata: '{"total":1e400}' });
    await expect(session.send('odd', { messageId: 'm1' })).rejects.toMatchObject({ code: 'MESSAGE_CONFLICT' });
    await enqueue(database(), session, 'm2', 'good');
    expect(await runtime.recover()).toMatchObject([{ state: 'IDLE' }]);
    expect(await rows(session.sessionId)).toMatchObject([{ content: 'odd', rejected_code: 'VALUE_INVALID' }]);
    await expect(session.send('odd', { messageId: 'm1' })).rejects.toMatchObject({ code: 'MESSAGE_CONFLICT' });
    expect(await userTexts(session)).toEqual(['good']);
  });

  test('turnlock.enqueue from SQL: an answer with notes that are none is refused, and the question stays open', async () => {
    const agent = scriptedAgent(eachRun({ toolCalls: [call('askUser', { question: 'Which?' })] }, 'thanks'), [
      askUser(),
    ]);
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    await (await session.send('go')).result();
    await enqueueText(session, 'this', { notes: '{"length":1}' });
    await runtime.recover();
    expect(await rows(session.sessionId)).toMatchObject([{ content: 'this', rejected_code: 'VALUE_INVALID' }]);
    expect(await (await session.send('that')).result()).toMatchObject({ state: 'IDLE', reply: 'thanks' });
  });
};
