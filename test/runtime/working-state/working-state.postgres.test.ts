import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { ToolContext } from '../../../adapters/tools/tool.contract.ts';
import {
  defineTool,
  type Followed,
  type Runtime,
  requireApproval,
  type Scratchpad,
  type Session,
} from '../../../index.ts';
import { servicesOf } from '../../../runtime/services-of.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { LONG_MS, openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../../support/runtime-script.ts';
import { countedDeltas } from './counted-deltas.ts';

/** What is seen of a session, as a text: pieces in order, and `#` for a transition. */
async function seenUntil(session: Session, type: string): Promise<string> {
  let seen = '';
  for await (const followed of session.follow({ deltas: true })) {
    seen += textOf(followed);
    if (followed.type === 'transition' && followed.transition.type === type) break;
  }
  return seen;
}

function textOf(followed: Followed): string {
  if (followed.type === 'delta') return followed.text;
  return followed.type === 'voided' ? '[void]' : '#';
}

describe('working state', () => {
  onPostgres((database) => {
    describe('the scratchpad', () => {
      it('is one for all tools of a run, of whatever class, and empty in the next run', async () => {
        const found: unknown[] = [];
        const add = ({ scratchpad }: ToolContext, name: string): string => {
          found.push(scratchpad.get('trail'));
          scratchpad.set('trail', [...((scratchpad.get('trail') as string[] | undefined) ?? []), name]);
          return name;
        };
        const look = looseTool('look', (_, context) => add(context, 'look'));
        const write = defineTool({
          name: 'write',
          description: 'Writes.',
          inputSchema: z.object({}),
          effect: 'transactional',
          execute: (_, context) => add(context, 'write'),
        });
        const agent = scriptedAgent(
          eachRun({ toolCalls: [call('look')] }, { toolCalls: [call('write')] }, { toolCalls: [call('look')] }, 'done'),
          [look, write],
        );
        const session = await openSession(await openRuntime(database(), [agent]), agent);
        await (await session.send('go')).result();
        await (await session.send('again')).result();
        const once = [undefined, ['look'], ['look', 'write']];
        expect(found).toEqual([...once, ...once]);
      });

      it('is not that of another session', async () => {
        const [first, second] = [gate(), gate()];
        const found: unknown[] = [];
        const tool = looseTool('look', async ({ name }, { scratchpad }) => {
          scratchpad.set('name', name);
          if (name === 'a') first.open();
          await (name === 'a' ? second : first).opened;
          found.push(scratchpad.get('name'));
          second.open();
        });
        const script = eachRun({ toolCalls: [call('look', { name: 'a' })] }, 'done');
        const other = eachRun({ toolCalls: [call('look', { name: 'b' })] }, 'done');
        const agents = [scriptedAgent(script, [tool]), scriptedAgent(other, [tool])];
        const runtime = await openRuntime(database(), agents);
        const runs = agents.map(async (agent) => (await (await openSession(runtime, agent)).send('go')).result());
        await Promise.all(runs);
        expect(found.sort()).toEqual(['a', 'b']);
      });

      it('refuses what it cannot keep with an error that the tool may catch, or not', async () => {
        const codes: unknown[] = [];
        const tool = looseTool('keep', ({ big }, { scratchpad }) => {
          try {
            scratchpad.set('a', big ? 'x'.repeat(100) : () => 1);
          } catch (error) {
            codes.push((error as { code: string }).code);
            if (big) throw error;
          }
          return 'went on';
        });
        const script = eachRun({ toolCalls: [call('keep', { big: false }), call('keep', { big: true })] }, 'done');
        const agent = scriptedAgent(script, [tool]);
        const runtime = await openRuntime(database(), [agent], { limits: { maxScratchpadBytes: 64 } });
        const session = await openSession(runtime, agent);
        await (await session.send('go')).result();
        expect(codes.sort()).toEqual(['VALUE_INVALID', 'VALUE_TOO_LARGE']);
        const results = (await session.history()).filter(({ role }) => role === 'tool').map(({ content }) => content);
        expect(results).toEqual([expect.stringContaining('went on'), expect.stringContaining('value is too large')]);
      });
    });

    describe('pieces of answers', () => {
      it('reach a runtime with which they are shared, from the begin of the attempt on', async () => {
        const { channel } = countedDeltas();
        const goesOn = gate();
        const shown = gate();
        const agent = scriptedAgent(async (_, { emit }) => {
          emit({ type: 'text', text: 'It ' });
          shown.open();
          await goesOn.opened;
          return { text: 'is done.' };
        });
        const here = await openRuntime(database(), [agent], { deltas: channel });
        const there = await openRuntime(database(), [agent], { deltas: channel, drive: false });
        const { tenantId, sessionId } = await openSession(here, agent);
        const run = await (await here.session({ tenantId, sessionId })).send('go');
        await shown.opened;
        const follower = await there.session({ tenantId, sessionId });
        const following = follower.follow({ deltas: true });
        const first = [await following.next(), await following.next()];
        expect(first.map(({ value }) => textOf(value as Followed))).toEqual(['#', 'It ']);
        const seen = seenUntil(follower, 'model.replied');
        goesOn.open();
        await run.result();
        expect(await seen).toBe('#It is done.#');
        await following.return();
      });

      it('are missed, and nothing else is, where the channel fails: once it is a warning', async () => {
        const failing = () => Promise.reject(new Error('broker is away'));
        const warnings: string[] = [];
        const agent = scriptedAgent('hello');
        const runtime = await openRuntime(database(), [agent], {
          deltas: { publish: failing, subscribe: failing },
          onWarning: ({ code }) => warnings.push(code),
        });
        const session = await openSession(runtime, agent);
        const seen = seenUntil(session, 'model.replied');
        expect(await (await session.send('go')).result()).toMatchObject({ state: 'IDLE', reply: 'hello' });
        expect(await seen).toBe('##');
        expect(warnings.filter((code) => code === 'DELTAS_FAILED')).toHaveLength(1);
      });
    });

    describe('nothing is left in memory', () => {
      /** A scene in which a model shows pieces and a tool keeps something; `end` lets the tool go on, `then` is what it does. */
      async function scene({ then = () => 'done' as unknown, asks = false, limits = {} } = {}) {
        const { channel, held } = countedDeltas();
        const [isOut, goesOn] = [gate(), gate()];
        const pads: Scratchpad[] = [];
        const tool = looseTool(
          'keep',
          async (_, { scratchpad }) => {
            pads.push(scratchpad);
            scratchpad.set('a', 1);
            isOut.open();
            await goesOn.opened;
            return then();
          },
          asks ? { policy: () => requireApproval() } : {},
        );
        const agent = scriptedAgent(eachRun({ text: 'I look.', toolCalls: [call('keep')] }, 'done'), [tool]);
        const runtime = await openRuntime(database(), [agent], { deltas: channel, limits });
        const session = await openSession(runtime, agent);
        const over = new AbortController();
        const followed = (async () => {
          let seen = '';
          for await (const one of session.follow({ deltas: true, signal: over.signal })) seen += textOf(one);
          return seen;
        })();
        const isLeft = () => ({
          held: servicesOf(runtime).live.held,
          subscriptions: held(),
          keys: pads.flatMap((pad) => pad.keys()),
        });
        const nothingIsLeft = async (): Promise<void> => {
          over.abort();
          expect(await followed).toContain('I look.');
          await vi.waitFor(() => expect(isLeft()).toEqual({ held: 0, subscriptions: 0, keys: [] }));
        };
        return { runtime, session, agent, isOut, goesOn, pads, isLeft, nothingIsLeft };
      }

      it('of a run that ended well', async () => {
        const { session, isOut, goesOn, isLeft, nothingIsLeft } = await scene();
        const run = await session.send('go');
        await isOut.opened;
        expect(isLeft()).toMatchObject({ subscriptions: 2, keys: ['a'] });
        goesOn.open();
        await run.result();
        await nothingIsLeft();
      });

      it('of a run that failed', async () => {
        const { session, goesOn, nothingIsLeft } = await scene({ limits: { maxModelCallsPerRun: 1 } });
        goesOn.open();
        expect(await (await session.send('go')).result()).toMatchObject({ state: 'FAILED' });
        await nothingIsLeft();
      });

      it('of a run that waits for a person', async () => {
        const { session, nothingIsLeft } = await scene({ asks: true });
        expect(await (await session.send('go')).result()).toMatchObject({ state: 'AWAITING_INPUT' });
        await nothingIsLeft();
      });

      it('of a run that was cancelled, though its tool is still out', async () => {
        const { session, isOut, goesOn, pads, nothingIsLeft } = await scene();
        const run = await session.send('go');
        await isOut.opened;
        await session.cancel({ by: 'ana' });
        await run.result();
        await nothingIsLeft();
        pads[0]?.set('late', 1);
        expect(pads[0]?.keys()).toEqual([]);
        goesOn.open();
      });

      it('of a run whose lease was lost', async () => {
        const { session, agent, isOut, goesOn, pads, nothingIsLeft } = await scene({ limits: { heartbeatMs: 500 } });
        const run = await session.send('go');
        await isOut.opened;
        const other = await openRuntime(database(), [agent]);
        const recovered = takenOver(other, session, () => database().moveClock(LONG_MS));
        await vi.waitFor(() => expect(pads.map((pad) => pad.keys())).toEqual([[], ['a']]), 10_000);
        goesOn.open();
        await recovered;
        expect(await run.result()).toMatchObject({ state: 'IDLE', reply: 'done' });
        await nothingIsLeft();
      });

      it('of a runtime that closes', async () => {
        const { runtime, session, isOut, goesOn, nothingIsLeft } = await scene();
        const run = await session.send('go');
        await isOut.opened;
        const closed = runtime.close();
        goesOn.open();
        await closed;
        await expect(run.result()).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' });
        await nothingIsLeft();
      });
    });
  });
});

/** Lets the lease expire and recovers until the session was taken over: its holder may extend it between the two. */
async function takenOver(runtime: Runtime, { sessionId }: Session, expire: () => Promise<void>): Promise<void> {
  for (;;) {
    await expire();
    const recovered = await runtime.recover();
    if (recovered.some((one) => one.sessionId === sessionId && one.skipped === undefined)) return;
  }
}
