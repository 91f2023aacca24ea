// The entry turnlock/ai-sdk: models, tools and embedders of Vercel's AI SDK 7.
export { aiSdkEmbedder } from '../embedders/ai-sdk-embedder.ts';
export type { AiSdkEmbedderSettings, EmbedOptions } from '../embedders/ai-sdk-embedder-settings.ts';
export { type FromAiSdkSettings, fromAiSdk } from '../tools/from-ai-sdk.ts';
export { aiSdk } from './ai-sdk/ai-sdk.ts';
export type { AiSdkSettings } from './ai-sdk/ai-sdk-settings.ts';
