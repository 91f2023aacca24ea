import type { LanguageModel } from 'ai';

// Taken from what `ai` exports, so that the packages beneath it need not be installed by name.

/** A language model of AI SDK 7, as its providers implement it. */
export type SdkModel = Extract<LanguageModel, { specificationVersion: 'v4' }>;

/** What `doStream` of a model takes. */
export type SdkCallOptions = Parameters<SdkModel['doStream']>[0];

/** The history as a model takes it. */
export type SdkPrompt = SdkCallOptions['prompt'];

type MessageOf<Role> = Extract<SdkPrompt[number], { role: Role }>;

/** A part of a user message. */
export type SdkUserPart = MessageOf<'user'>['content'][number];

/** A part of an assistant message. */
export type SdkAssistantPart = MessageOf<'assistant'>['content'][number];

/** The answer to a tool call. */
export type SdkToolResult = Extract<MessageOf<'tool'>['content'][number], { type: 'tool-result' }>;

/** A tool as a model is told of it. */
export type SdkModelTool = NonNullable<SdkCallOptions['tools']>[number];

/** What a provider adds to a part, by the provider's name. */
export type SdkMetadata = NonNullable<SdkAssistantPart['providerOptions']>;

/** A piece of a model's stream. */
export type SdkStreamPart =
  Awaited<ReturnType<SdkModel['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;

/** One kind of piece of a model's stream. */
export type SdkStreamPartOf<Type extends SdkStreamPart['type']> = Extract<SdkStreamPart, { type: Type }>;
