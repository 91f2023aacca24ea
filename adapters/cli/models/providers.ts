/** A provider of models that the command line can use: each is a package of Vercel's AI SDK that the user has installed. */
export interface Provider {
  /** The environment variable with its key, as its package reads it. */
  readonly key: string;
  /** The package that speaks to it. */
  readonly package: string;
  /** What is used where no model is named: cheap, and capable of calling tools. */
  readonly modelId: string;
}

/** Every provider, in the order in which they are looked for. */
export const PROVIDERS = {
  openai: { key: 'OPENAI_API_KEY', package: '@ai-sdk/openai', modelId: 'gpt-5.4-mini' },
  anthropic: { key: 'ANTHROPIC_API_KEY', package: '@ai-sdk/anthropic', modelId: 'claude-haiku-4-5' },
  gateway: { key: 'AI_GATEWAY_API_KEY', package: 'ai', modelId: 'openai/gpt-5.4-mini' },
} as const satisfies Record<string, Provider>;

/** The name of a provider, as `--model` takes it. */
export type ProviderName = keyof typeof PROVIDERS;

/** Every name. */
export const PROVIDER_NAMES = Object.keys(PROVIDERS) as ProviderName[];
