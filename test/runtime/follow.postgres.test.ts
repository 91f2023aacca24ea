import { describe, expect, it } from 'vitest';
import type { ModelContext } from '../../adapters/models/model.contract.ts';
import type { Followed, Session } from '../../index.ts';
import { onPostgres } from '../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../support/runtime-open.ts';
import { call, gate, looseTool } from '../support/runtime-script.ts';

/** A line for each thing that is seen. */
function lineOf(followed: Followed): string {
  if (followed.type === 'transition') return `${followed.transition.sequence} ${followed.transition.type}`;
  return followed.type === 'delta' ? `+ ${followed.text}` : `- attempt ${followed.attempt}`;
}

/** What is seen up to the first line that `last` names. */
async function seenUntil(session: Session, last: string, after = 0, deltas = true): Promise<string[]> {
  const lines: string[] = [];
  for await (const followed of session.follow({ after, deltas })) {
    lines.push(lineOf(followed));
    if (lines.at(-1)?.includes(last)) break;
  }
  return lines;
}

const say = ({ emit }: ModelContext, text: string): void => emit({ type: 'text', text });

describe('following a session', () => {
  onPostgres((database) => {
    it('shows pieces of answers between the transitions where they belong, each once', async () => {
      const agent = scriptedAgent(
        [
          (_, context) => {
            say(context, 'I ');
            say(context, 'look');
            return { text: '', toolCalls: [call('look')] };
          },
          (_, context) => {
            say(context, 'Found');
            return { text: ' it' };
          },
        ],
        [looseTool('look', () => 1)],
      );
      const runtime = await openRuntime(database(), [agent]);
      const session = await openSession(runtime, agent);
      const seen = seenUntil(session, 'model.replied');
      await (await session.send('go')).result();
      const lines = await seen;
      expect(lines.filter((line) => !line.startsWith('+'))).toEqual([
        '1 user.messaged',
        '2 model.calledTools',
        '3 tool.settled',
        '4 model.replied',
      ]);
      const text = lines.join('|').replaceAll('|+ ', '+');
      expect(text).toBe('1 user.messaged+I +look|2 model.calledTools|3 tool.settled+Found+ it|4 model.replied');
      expect(await seenUntil(session, 'model.replied', 2)).toEqual(['3 tool.settled', '4 model.replied']);
    });

    it('voids what an attempt showed that was given up, and shows a late comer the one that goes on', async () => {
      const attempts = [gate<string>(), gate<string>()];
      let attempt = 0;
      const agent = scriptedAgent(async (_, context) => {
        const { opened } = attempts[attempt]!;
        attempt += 1;
        say(context, `try ${attempt}`);
        const then = await opened;
        if (then === 'fail') throw new Error('broken');
        return { text: then };
      });
      const runtime = await openRuntime(database(), [agent]);
      const session = await openSession(runtime, agent);
      const first = seenUntil(session, 'model.replied');
      const run = await session.send('go');
      expect(await seenUntil(session, 'try 1')).toEqual(['1 user.messaged', '+ try 1']);
      attempts[0]!.open('fail');
      expect((await seenUntil(session, 'try 2', 1)).slice(-2)).toEqual(['2 model.attemptFailed', '+ try 2']);
      attempts[1]!.open('!');
      await run.result();
      expect((await first).join('|').replace('try 2|+ !', 'try 2!')).toBe(
        '1 user.messaged|+ try 1|- attempt 1|2 model.attemptFailed|+ try 2!|3 model.replied',
      );
    });

    it('gives a reader that is too slow the answer alone', async () => {
      const written = gate();
      const agent = scriptedAgent(async (_, context) => {
        say(context, 'begin');
        await written.opened;
        for (let piece = 0; piece < 40; piece += 1) say(context, 'x'.repeat(10_000));
        return 'done';
      });
      const runtime = await openRuntime(database(), [agent]);
      const session = await openSession(runtime, agent);
      const run = await session.send('go');
      const following = session.follow({ deltas: true });
      const first = [await following.next(), await following.next()];
      expect(first.map(({ value }) => lineOf(value as Followed))).toEqual(['1 user.messaged', '+ begin']);
      written.open();
      await run.result();
      const rest = [await following.next(), await following.next()];
      expect(rest.map(({ value }) => lineOf(value as Followed))).toEqual(['- attempt 1', '2 model.replied']);
      await following.return();
    });

    it('sees what another runtime commits, without its pieces', async () => {
      const agent = scriptedAgent('hello');
      const [here, elsewhere] = [await openRuntime(database(), [agent]), await openRuntime(database(), [agent])];
      const { sessionId, tenantId } = await openSession(here, agent);
      const session = await here.session({ sessionId, tenantId });
      const seen = seenUntil(session, 'model.replied');
      await (await (await elsewhere.session({ sessionId, tenantId })).send('go')).result();
      expect(await seen).toEqual(['1 user.messaged', '2 model.replied']);
    });

    it('ends with its signal and with the runtime, and takes nothing else', async () => {
      const agent = scriptedAgent('hello');
      const runtime = await openRuntime(database(), [agent]);
      const session = await openSession(runtime, agent);
      const controller = new AbortController();
      const next = [session.follow({ signal: controller.signal }).next(), session.follow().next()];
      controller.abort();
      expect((await next[0])?.done).toBe(true);
      expect(() => session.follow({ after: -1 })).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
      expect(() => session.follow({ signal: 1 as never })).toThrow(
        expect.objectContaining({ code: 'OPTIONS_INVALID' }),
      );
      expect(() => session.follow({ delta: true } as never)).toThrow(
        expect.objectContaining({ code: 'OPTIONS_INVALID' }),
      );
      await runtime.close();
      expect((await next[1])?.done).toBe(true);
      expect(() => session.follow()).toThrow(expect.objectContaining({ code: 'RUNTIME_CLOSED' }));
    });

    it('reads the history in pages', async () => {
      const agent = scriptedAgent('hello');
      const runtime = await openRuntime(database(), [agent]);
      const session = await openSession(runtime, agent);
      for (const text of ['a', 'b']) await (await session.send(text)).result();
      const [all, page] = [await session.history(), await session.history({ from: 1, limit: 2 })];
      expect(all).toHaveLength(4);
      expect(page).toEqual(all.slice(1, 3));
      await expect(session.history({ from: -1 })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
      await expect(session.history({ limit: 0 })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    });
  });
});
