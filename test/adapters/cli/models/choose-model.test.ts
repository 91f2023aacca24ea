import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { chooseModel, modelText } from '../../../../adapters/cli/models/choose-model.ts';
import { loadModel } from '../../../../adapters/cli/models/load-model.ts';
import { PROVIDERS } from '../../../../adapters/cli/models/providers.ts';

const { openai, anthropic, gateway } = PROVIDERS;

test('without a key and without a wish it is the script', () => {
  expect(chooseModel(undefined, { OPENAI_API_KEY: '', HOME: '/' })).toEqual({ provider: 'scripted' });
  expect(chooseModel('scripted', { OPENAI_API_KEY: 'k' })).toEqual({ provider: 'scripted' });
  expect(modelText({ provider: 'scripted' })).toBe('a script, no model');
});

test('the first provider with a key is taken, with its usual model', () => {
  const all = { AI_GATEWAY_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' };
  expect(chooseModel(undefined, all)).toEqual({ provider: 'openai', modelId: openai.modelId });
  const { OPENAI_API_KEY: _, ...two } = all;
  expect(chooseModel(undefined, two)).toEqual({ provider: 'anthropic', modelId: anthropic.modelId });
  expect(chooseModel(undefined, { AI_GATEWAY_API_KEY: 'k' })).toEqual({
    provider: 'gateway',
    modelId: gateway.modelId,
  });
});

test('--model names a provider, and one of its models behind a slash', () => {
  const env = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', AI_GATEWAY_API_KEY: 'k' };
  expect(chooseModel('anthropic', env)).toEqual({ provider: 'anthropic', modelId: anthropic.modelId });
  expect(chooseModel('openai/gpt-5', env)).toEqual({ provider: 'openai', modelId: 'gpt-5' });
  expect(chooseModel('gateway/xai/grok', env)).toEqual({ provider: 'gateway', modelId: 'xai/grok' });
});

test.each(['', 'gpt-5', 'openai/', 'OPENAI'])('--model %j is refused', (asked) => {
  const env = { OPENAI_API_KEY: 'k' };
  expect(() => chooseModel(asked, env)).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
});

test('a provider without its key is refused, and the key is named', () => {
  const message = expect.stringContaining('ANTHROPIC_API_KEY');
  const refusal = expect.objectContaining({ code: 'CONFIG_INVALID', message });
  expect(() => chooseModel('anthropic', { OPENAI_API_KEY: 'k' })).toThrow(refusal);
});

test('the usual models are among those that the packages know', async () => {
  const types = async (name: string) => readFile(`node_modules/${name}/dist/index.d.ts`, 'utf8');
  expect(await types('@ai-sdk/openai')).toContain(`'${openai.modelId}'`);
  expect(await types('@ai-sdk/anthropic')).toContain(`'${anthropic.modelId}'`);
  expect(await types('@ai-sdk/gateway')).toContain(`'${gateway.modelId}'`);
});

test.each(['openai', 'anthropic', 'gateway'] as const)('%s: its package makes the model', async (provider) => {
  const { modelId } = PROVIDERS[provider];
  expect((await loadModel({ provider, modelId })).modelId).toBe(modelId);
});
