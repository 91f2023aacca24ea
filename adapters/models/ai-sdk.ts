// The entry turnlock/ai-sdk: models and tools of Vercel's AI SDK 7.
export { type FromAiSdkSettings, fromAiSdk } from '../tools/from-ai-sdk.ts';
export { aiSdk } from './ai-sdk/ai-sdk.ts';
export type { AiSdkSettings } from './ai-sdk/ai-sdk-settings.ts';
