import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { scripted } from '../../../adapters/models/scripted.ts';
import { defineAgent, defineTool } from '../../../index.ts';
import { openSessionHarness } from '../../../testing/harness/session-harness.ts';
import type { ProcessUnderTest } from '../../../testing/subject.ts';
import { charging, model, owner } from './charging.ts';

/** An agent whose one tool looks, as `look` does it in a process. */
const looking = (look: (process: ProcessUnderTest) => Promise<void>) => (process: ProcessUnderTest) => {
  const lookAgain = defineTool({
    name: 'charge',
    description: 'Looks again and again.',
    inputSchema: z.object({}),
    effect: 'readOnly',
    execute: () => look(process),
  });
  return [defineAgent({ name: 'support', instructions: 'Look.', model, tools: [lookAgain] })] as const;
};

test('what goes on and on is told, and a reset ends it', async () => {
  await using harness = await openSessionHarness();
  const { clock } = harness;
  let looks = 0;
  const agents = looking(async (process) => {
    for (;;) {
      looks += 1;
      await process.at('a look');
      await clock.sleep(0);
    }
  });
  const first = await harness.start({ agents });
  await (await first.runtime.createSession(owner)).send('go');
  await expect(harness.quiet()).rejects.toMatchObject({ code: 'NEVER_RESTS' });
  await harness.reset();
  const before = looks;
  const second = await harness.start({ agents: charging([]) });
  const run = await (await second.runtime.createSession(owner)).send('go');
  expect(await run.result()).toMatchObject({ reply: 'done' });
  expect(before).toBeGreaterThan(100);
  expect(looks).toBe(before);
});

/** Far more often than a harness waits for, and an end all the same: a test that fails does not hang. */
const VERY_OFTEN = 300_000;

test('a tool that comes to one place again and again, and waits for nothing else, is told', async () => {
  await using harness = await openSessionHarness();
  const agents = looking(async (process) => {
    for (let looks = 0; looks < VERY_OFTEN; looks += 1) await process.at('a look');
  });
  const { runtime } = await harness.start({ agents });
  await (await runtime.createSession(owner)).send('go');
  await expect(harness.quiet()).rejects.toMatchObject({ code: 'NEVER_RESTS' });
  await harness.reset();
  expect(await harness.promises()).toEqual([]);
});

test('the event loop turns while a long run goes on', async () => {
  const rounds = 60;
  await using harness = await openSessionHarness();
  let calls = 0;
  const asking = scripted(() => {
    calls += 1;
    return calls > rounds ? 'done' : { toolCalls: [{ toolName: 'look', input: { page: calls } }] };
  });
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    inputSchema: z.object({ page: z.int() }),
    effect: 'readOnly',
    execute: async () => 'nothing',
  });
  const support = defineAgent({ name: 'support', instructions: 'Look.', model: asking, tools: [look] });
  const limits = { maxModelCallsPerRun: 2 * rounds, maxToolCallsPerRun: 2 * rounds };
  const { runtime } = await harness.start({ agents: [support], limits });
  const session = await runtime.createSession(owner);
  let isQuiet = false;
  let most = 0;
  const watching = (async () => {
    for (let before = 0; !isQuiet; before = calls) {
      await turn();
      most = Math.max(most, calls - before);
    }
  })();
  session.send('go').catch(() => undefined);
  await harness.quiet();
  isQuiet = true;
  await watching;
  expect(calls).toBe(rounds + 1);
  expect(most).toBeLessThan(rounds / 3);
});
