import { expect, test, vi } from 'vitest';
import { inspector } from '../../../../adapters/inspector/inspector.ts';
import { servicesOf } from '../../../../runtime/services-of.ts';
import { onPostgres } from '../../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../../support/runtime-open.ts';
import { eachRun } from '../../../support/runtime-script.ts';

/** Reads events of a stream until it has seen the transition `last`, then goes away. */
async function sequencesUntil(response: Response, last: number): Promise<number[]> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const seen = () => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  while (!seen().includes(last)) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
  }
  await reader.cancel();
  return seen();
}

onPostgres((database) => {
  test('a stream has each committed transition once and in order, whichever process commits it, also after it was lost', async () => {
    const agent = scriptedAgent(eachRun('yes'));
    const [here, elsewhere] = [await openRuntime(database(), [agent]), await openRuntime(database(), [agent])];
    const session = await openSession(here, agent);
    await (await session.send('one')).result();
    const handler = inspector(here, { viewer: { tenantId: 'tenant', by: 'grace' } });
    const follow = (after: string, headers: Record<string, string> = {}) =>
      handler(new Request(`http://127.0.0.1/sessions/${session.sessionId}/events${after}`, { headers }));
    const response = await follow('?after=0');
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const first = sequencesUntil(response, 4);
    await (await (await elsewhere.session(session)).send('two')).result();
    expect(await first).toEqual([1, 2, 3, 4]);
    // While nobody follows.
    await (await session.send('three')).result();
    const again = sequencesUntil(await follow('?after=0', { 'last-event-id': '4' }), 8);
    await (await session.send('four')).result();
    expect(await again).toEqual([5, 6, 7, 8]);
  });

  test('who asks for the head of a stream alone leaves nobody behind that looks at the session', async () => {
    const agent = scriptedAgent(eachRun('yes'));
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const handler = inspector(runtime, { viewer: { tenantId: 'tenant', by: 'grace' } });
    const looks = vi.spyOn(servicesOf(runtime).live, 'whenCommitted');
    const ask = (path: string, method: string) =>
      handler(new Request(`http://127.0.0.1/sessions/${session.sessionId}${path}`, { method }));
    const { status, headers, body } = await ask('/events', 'HEAD');
    expect([status, headers.get('content-type'), body]).toEqual([200, 'text/event-stream', null]);
    await ask('', 'GET'); // reads the database many times, so that whoever was left behind would have looked
    expect(looks).not.toHaveBeenCalled();
  });

  test('a stream ends when its runtime is closed, and pages say that from then on', async () => {
    const agent = scriptedAgent(eachRun('yes'));
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const handler = inspector(runtime, { viewer: { tenantId: 'tenant', by: 'grace' } });
    const response = await handler(new Request(`http://127.0.0.1/sessions/${session.sessionId}/events`));
    const ended = response.text();
    await runtime.close();
    expect(await ended).toContain('event: following');
    const page = await handler(new Request(`http://127.0.0.1/sessions/${session.sessionId}`));
    expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('The service has stopped')]);
  });
});
