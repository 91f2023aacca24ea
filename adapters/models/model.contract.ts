import type { Json, TokenUsage, TurnPart } from '../../machines/event-content.ts';

/** One turn of the history that a model is given. Always valid: every tool call has its tool turn before the next message. */
export interface ModelTurn {
  turnIndex: number;
  role: 'user' | 'assistant' | 'system' | 'tool';
  text: string;
  parts: TurnPart[];
  /** Of a tool turn: which call of the assistant turn before it is answered, and how it ended. */
  answers?: { ordinal: number; toolName: string; providerCallId: string | null; outcome: ToolOutcome };
}

/** How a call ended, as the model is told. `unknown` is never rebuilt as an error: it may have happened. */
export type ToolOutcome = 'succeeded' | 'failed' | 'unknown';

/** A tool as the model sees it. */
export interface ModelTool {
  name: string;
  description: string;
  /** JSON Schema, draft 2020-12. */
  inputSchema: Json;
}

/** What a model is asked. */
export interface ModelRequest {
  /** The agent's, as they are for this attempt; behind them, in a block that says what it is, what of memories it is shown. */
  instructions: string;
  /**
   * The history, by index; the last one is a user's message or a tool's result. Of an agent with a budget (`context`) the newest turns that
   * fit, valid all the same: the first one is a user's message, and no call is there without its result.
   */
  turns: ModelTurn[];
  /** The agent's tools, in the order in which it was given them. */
  tools: ModelTool[];
  /** JSON Schema, draft 2020-12, of the reply that ends the session; absent where the agent declares no `output`. */
  outputSchema?: Json;
  tenantId: string;
  userId: string;
  sessionId: string;
  runId: string;
  /** 1 for the first attempt of this call. */
  attempt: number;
}

/** A call that the model asks for. `input` is the parsed value, or the raw text where the arguments were not JSON. */
export interface ModelToolCall {
  toolName: string;
  input: unknown;
  /** The provider's id: kept, mapped at the edge, never identity. */
  providerCallId?: string;
  /** The arguments as the provider sent them, where they were not JSON. */
  invalidInput?: string;
  providerMetadata?: Json;
}

/** A whole answer. A call counts only when the whole answer is returned. */
export interface ModelResponse {
  text?: string;
  /** Parts before the calls, in order, for example reasoning. Without it the text is the only part. */
  parts?: TurnPart[];
  toolCalls?: ModelToolCall[];
  usage?: TokenUsage;
  finishReason?: string;
  providerRequestId?: string;
}

/** A piece of an answer that is still being written. */
export interface ModelDelta {
  type: 'text' | 'reasoning';
  text: string;
}

/** The port to a model. */
export interface Model {
  /** Written to `active_model_id`; 1 to 64 characters. */
  readonly modelId: string;
  /** Who serves it, for telemetry: a well-known value of `gen_ai.provider.name`, or the name that the AI SDK has for it. Default: not said. */
  readonly provider?: string;
  /**
   * Answers `request`. Whatever it throws becomes a failed attempt; throw a `TurnlockError` with `retryable: false` where a further
   * attempt cannot help, with `details.retryAfterMs` where the next one must wait at least so many milliseconds (10 minutes at most
   * are honoured). It must stop soon after `signal` aborts: then it rejects. Several calls may go on at once, of one session or of many.
   */
  generate(request: ModelRequest, context: ModelContext): Promise<ModelResponse>;
}

/** What a model is handed beside its request. */
export interface ModelContext {
  signal: AbortSignal;
  /**
   * Shows a piece of the answer to the subscribers of this process. Never stored, and never throws: one of another form fails the attempt
   * once `generate` returns, and one that comes after its end is ignored.
   */
  emit(delta: ModelDelta): void;
}
