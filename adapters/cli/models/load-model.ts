import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isTurnlockError, TurnlockError } from '../../../errors.ts';
import type { Model } from '../../models/model.contract.ts';
import { type ModelChoice, modelText } from './choose-model.ts';
import { PROVIDERS } from './providers.ts';

type Chosen = Exclude<ModelChoice, { provider: 'scripted' }>;

/**
 * The model of a provider. Its package is the user's: it is looked for in the current folder first, then beside this package. Key and
 * address come from the environment variables that the provider's package reads.
 *
 * @throws CONFIG_INVALID when the package is not installed or cannot be loaded. DEFINITION_INVALID when it is of a version that cannot be used.
 */
export async function loadModel(choice: Chosen): Promise<Model> {
  const { aiSdk } = await loading('ai', choice, () => import('../../models/ai-sdk/ai-sdk.ts'));
  if (choice.provider === 'gateway') return aiSdk(choice.modelId);
  const name = PROVIDERS[choice.provider].package;
  const loaded = await loading(name, choice, () => import(resolvePackage(name)));
  const provider = (loaded as Record<string, unknown>)[choice.provider];
  if (typeof provider !== 'function') throw refuse(name, choice, `nothing named ${choice.provider} in it`);
  return aiSdk(provider(choice.modelId));
}

/** Where Node finds the package, as a URL. */
function resolvePackage(name: string): string {
  try {
    return pathToFileURL(createRequire(join(process.cwd(), 'package.json')).resolve(name)).href;
  } catch {
    return pathToFileURL(createRequire(import.meta.url).resolve(name)).href;
  }
}

async function loading<Loaded>(name: string, choice: Chosen, load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await load();
  } catch (cause) {
    if (isTurnlockError(cause)) throw cause;
    const isMissing = /MODULE_NOT_FOUND/.test(String((cause as { code?: unknown } | null)?.code));
    throw refuse(
      name,
      choice,
      isMissing ? 'no such package' : String((cause as Error | null)?.message ?? cause),
      cause,
    );
  }
}

function refuse(name: string, choice: Chosen, found: string, cause?: unknown): TurnlockError {
  const { package: own } = PROVIDERS[choice.provider];
  return new TurnlockError('CONFIG_INVALID', {
    message: `package cannot be used: ${name} (found ${found}, wanted it for the model ${modelText(choice)})`,
    hint: `Run \`npm install ${[...new Set(['ai', own])].join(' ')}\`, or pass --model scripted.`,
    cause,
  });
}
