import { expect, test } from 'vitest';
import type { ChatOptions } from '../../../../adapters/cli/chat/chat-options.ts';
import { chooseAgent } from '../../../../adapters/cli/chat/choose-agent.ts';
import { config } from '../support.config.ts';

const OPTIONS: ChatOptions = { tenant: 'local', user: 'user' };
const { agents, ...WITHOUT_AGENTS } = config;

test('an agent of the configuration brings its own model', async () => {
  const chosen = await chooseAgent(OPTIONS, config, 'unused.jsonl');
  expect([chosen.agent, chosen.modelText, chosen.limits]).toEqual([agents[0], 'scripted', {}]);
});

test.each([
  [{ agent: 'gone.ts' }, WITHOUT_AGENTS, 'CONFIG_INVALID', 'no file'],
  [{ name: 'nobody' }, config, 'CONFIG_INVALID', 'found support, wanted one named "nobody"'],
  [{ name: 'nobody', model: 'scripted' }, WITHOUT_AGENTS, 'CONFIG_INVALID', 'found support, careful-support'],
  [{ model: 'scripted' }, config, 'OPTIONS_INVALID', 'brings its own model'],
  [{ model: 'scripted', agent: 'agents.ts' }, WITHOUT_AGENTS, 'OPTIONS_INVALID', 'brings its own model'],
  [{ model: 'chatty' }, WITHOUT_AGENTS, 'OPTIONS_INVALID', 'scripted, openai, anthropic, gateway'],
])('%j is refused', async (options, settings, code, found) => {
  const refusal = { code, message: expect.stringContaining(found) };
  await expect(chooseAgent({ ...OPTIONS, ...options }, settings, 'unused.jsonl')).rejects.toMatchObject(refusal);
});
