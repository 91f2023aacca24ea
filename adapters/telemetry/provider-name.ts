/** What the AI SDK's names of providers begin with, longest first where one begins another, and the well-known value of each. */
const WELL_KNOWN: readonly (readonly [string, string])[] = [
  ['amazon-bedrock', 'aws.bedrock'],
  ['anthropic', 'anthropic'],
  ['azure', 'azure.ai.openai'],
  ['cohere', 'cohere'],
  ['deepseek', 'deepseek'],
  ['google.vertex', 'gcp.vertex_ai'],
  ['googleVertex', 'gcp.vertex_ai'],
  ['vertex', 'gcp.vertex_ai'],
  ['google', 'gcp.gemini'],
  ['groq', 'groq'],
  ['mistral', 'mistral_ai'],
  ['moonshotai', 'moonshot_ai'],
  ['openai', 'openai'],
  ['perplexity', 'perplexity'],
  ['xai', 'x_ai'],
];

/** The value of `gen_ai.provider.name` for a model's provider; `unknown` where the model does not say it. */
export function providerName(provider: string | null): string {
  if (provider === null || provider === '') return 'unknown';
  const known = WELL_KNOWN.find(([prefix]) => provider === prefix || provider.startsWith(`${prefix}.`));
  return known?.[1] ?? provider;
}
