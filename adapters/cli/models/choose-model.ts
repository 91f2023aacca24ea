import { TurnlockError } from '../../../errors.ts';
import { PROVIDER_NAMES, PROVIDERS, type ProviderName } from './providers.ts';

/** Which model an agent of ours uses. JSON, so that a process can be told. */
export type ModelChoice = { provider: 'scripted' } | { provider: ProviderName; modelId: string };

/** What decides where nothing is asked for. */
type Keys = Readonly<Record<string, string | undefined>>;

/**
 * The model that `--model` names: `scripted`, or a provider with or without the id of one of its models (`openai`, `openai/gpt-5`).
 * Without it the first provider whose key is in the environment, and the script where there is none.
 *
 * @throws OPTIONS_INVALID for another name, CONFIG_INVALID when the key of the named provider is not in the environment.
 */
export function chooseModel(asked: string | undefined, env: Keys): ModelChoice {
  if (asked === 'scripted') return { provider: 'scripted' };
  if (asked === undefined) {
    const provider = PROVIDER_NAMES.find((name) => env[PROVIDERS[name].key]);
    return provider === undefined ? { provider: 'scripted' } : { provider, modelId: PROVIDERS[provider].modelId };
  }
  const [name = '', ...rest] = asked.split('/');
  const provider = PROVIDER_NAMES.find((known) => known === name);
  const modelId = rest.join('/');
  if (provider === undefined || (rest.length > 0 && modelId === '')) throw unknown(asked);
  const { key, modelId: usual } = PROVIDERS[provider];
  if (!env[key]) throw keyMissing(asked, key);
  return { provider, modelId: modelId || usual };
}

/** The choice in words, with what decided it. */
export function modelText(choice: ModelChoice): string {
  if (choice.provider === 'scripted') return 'a script, no model';
  return `${choice.provider}/${choice.modelId}`;
}

function unknown(asked: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `--model not accepted: ${JSON.stringify(asked)} (wanted scripted, ${PROVIDER_NAMES.join(', ')}, or PROVIDER/MODEL)`,
    hint: 'For example: --model openai, --model anthropic/claude-haiku-4-5, --model gateway/openai/gpt-5.4-mini.',
  });
}

function keyMissing(asked: string, key: string): TurnlockError {
  return new TurnlockError('CONFIG_INVALID', {
    message: `no key for --model ${asked} (found no ${key} in the environment)`,
    hint: `Set ${key}, or pass --model scripted, which needs none.`,
  });
}
