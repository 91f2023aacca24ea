import { describe, expect, it } from 'vitest';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, gate, looseTool } from '../../support/runtime-script.ts';
import { eventsIn, httpScene, type StreamedEvent } from './http-scene.ts';

/** The events of a response up to the first one that `is` finds. */
async function until(response: Response, is: (event: StreamedEvent) => boolean): Promise<StreamedEvent[]> {
  expect(response.status).toBe(200);
  const events: StreamedEvent[] = [];
  for await (const event of eventsIn(response)) {
    events.push(event);
    if (is(event)) break;
  }
  return events;
}

const isType = (type: string) => (event: StreamedEvent) => event.data.type === type;

describe('the events of a session', () => {
  onPostgres((database) => {
    it('are committed transitions with ids and turns, each once over a reconnect, and deltas between them', async () => {
      const agent = scriptedAgent(
        [{ text: 'Look.', toolCalls: [call('look')] }, 'Found.'],
        [looseTool('look', () => 1)],
      );
      const runtime = await openRuntime(database(), [agent]);
      const session = await openSession(runtime, agent);
      const { served } = httpScene(runtime);
      const { url } = await served();
      const follow = (query = '', headers: Record<string, string> = {}) =>
        fetch(`${url}/sessions/${session.sessionId}/events${query}`, {
          headers: { authorization: 'Bearer tenant/user', ...headers },
        });
      const response = await follow();
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
      const first = until(response, isType('model.calledTools'));
      await (await session.send('go')).result();
      const begun = await first;
      expect(begun.map(({ event, id }) => [event, id])).toEqual([
        ['transition', '1'],
        ['delta', null],
        ['transition', '2'],
      ]);
      expect(begun[1]!.data).toMatchObject({ kind: 'text', text: 'Look.', attempt: 1 });
      expect(begun[2]!.data.turns).toMatchObject([{ role: 'assistant', content: 'Look.' }]);
      const rest = await until(await follow('', { 'last-event-id': '2' }), isType('model.replied'));
      expect(rest.map(({ event, id }) => [event, id])).toEqual([
        ['voided', null],
        ['transition', '3'],
        ['transition', '4'],
      ]);
      const byQuery = await until(await follow('?after=3&deltas=false'), isType('model.replied'));
      expect(byQuery.map(({ id }) => id)).toEqual(['4']);
      for (const id of ['5', '-1', '1e3', 'x', '99999999999']) {
        expect((await follow('', { 'last-event-id': id })).status, id).toBe(400);
      }
      await session.complete();
      expect((await until(await follow('?after=4'), () => false)).map(({ id }) => id)).toEqual([null, '5']);
      expect((await follow('?after=5')).status).toBe(204);
    });

    it('void an attempt that was given up', async () => {
      const { opened, open } = gate();
      let attempt = 0;
      const agent = scriptedAgent(async (_, { emit }) => {
        attempt += 1;
        if (attempt > 1) return 'second';
        emit({ type: 'text', text: 'first' });
        await opened;
        throw new Error('broken');
      });
      const runtime = await openRuntime(database(), [agent]);
      const session = await openSession(runtime, agent);
      const { ask } = httpScene(runtime);
      const seen = until(await ask('GET', `/sessions/${session.sessionId}/events`), ({ event, data }) => {
        if (event === 'delta' && data.text === 'first') open();
        return data.type === 'model.replied';
      });
      await (await session.send('go')).result();
      expect(
        (await seen).map(({ event, data }) => (event === 'transition' ? data.type : [event, data.attempt])),
      ).toEqual(['user.messaged', ['delta', 1], ['voided', 1], 'model.attemptFailed', ['delta', 2], 'model.replied']);
    });

    it('keep an idle reader, end with it, and make nothing that nobody reads', async () => {
      const agent = scriptedAgent('hello');
      const runtime = await openRuntime(database(), [agent]);
      const session = await openSession(runtime, agent);
      const { ask, errors } = httpScene(runtime, { heartbeatMs: 1 });
      const response = await ask('GET', `/sessions/${session.sessionId}/events`);
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      const chunks = [await reader.read(), await reader.read(), await reader.read()].map(({ value }) => value);
      expect(chunks).toEqual([': open\n\n', 'retry: 1000\n\n', ': still here\n\n']);
      await reader.cancel();
      await ask('GET', `/sessions/${session.sessionId}/events`); // never read
      await runtime.close();
      expect(errors).toEqual([]);
    });
  });
});
