import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../index.ts';
import { openSessionHarness } from '../../../testing/harness/session-harness.ts';
import type { ProcessUnderTest } from '../../../testing/subject.ts';
import { charging, model, owner } from './charging.ts';

test('what goes on and on is told, and a reset ends it', async () => {
  await using harness = await openSessionHarness();
  const { clock } = harness;
  let looks = 0;
  const agents = (process: ProcessUnderTest) => {
    const lookAgain = defineTool({
      name: 'charge',
      description: 'Looks again and again.',
      inputSchema: z.object({}),
      effect: 'readOnly',
      async execute() {
        for (;;) {
          looks += 1;
          await process.at('a look');
          await clock.sleep(0);
        }
      },
    });
    return [defineAgent({ name: 'support', instructions: 'Look.', model, tools: [lookAgain] })] as const;
  };
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
