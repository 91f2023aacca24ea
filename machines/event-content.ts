import type { EffectClass } from './execution-status.ts';

/** A value that JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Where text or JSON was changed before it was stored: paths of replaced characters, or `null` when nothing was. */
export type Normalised = string[] | null;

/** An ordered part of a turn. `toolCall` is what the model asked for, with the provider's own id, which is never identity. */
export type TurnPart =
  | { type: 'text'; text: string; providerMetadata?: Json }
  | { type: 'reasoning'; text: string; providerMetadata?: Json }
  | { type: 'file'; mediaType: string; reference: string; providerMetadata?: Json }
  | { type: 'source'; [name: string]: Json }
  /** What only one provider understands, as it takes it back. */
  | { type: 'custom'; part: Json; providerMetadata?: Json }
  | {
      type: 'toolCall';
      ordinal: number;
      toolName: string;
      input: Json;
      rawInput?: string;
      providerCallId: string | null;
      executionId: string;
      /** Of a call that another agent answers: the session in which it does, there once the call was started. */
      childSessionId?: string;
      providerMetadata?: Json;
    };

/** Tokens of one model call, where the provider says them. */
export interface TokenUsage {
  inputTokens?: number;
  outputTokens?: number;
  totalTokens?: number;
  [name: string]: number | undefined;
}

/** The message of a user. */
export interface UserTurnContent {
  text: string;
  parts: TurnPart[];
  metadata: { [name: string]: Json };
  normalised: Normalised;
}

/** A memory that a model was shown, as it is recorded: which one, and why. */
export interface ShownMemoryContent {
  memoryId: string;
  kind: string;
  /** The summary of its conversation, or what was recalled for its message. */
  why: 'summary' | 'recalled';
  /** As the recall ranked it; absent for a summary. */
  score?: number;
}

/** One attempt of a model call, as it is recorded. */
export interface ModelCallContent {
  modelCallId: string;
  attempt: number;
  modelId: string;
  agentVersion: number;
  tools: Json;
  /** The first and the last turn shown; before the first, where it is no message, the message that opened its run was shown too. */
  windowFrom: number;
  windowTo: number;
  /** What it was shown beside the turns, in that order. */
  memories: ShownMemoryContent[];
  startedAt: number;
  latencyMs: number;
  usage: TokenUsage;
  finishReason: string | null;
  providerRequestId: string | null;
  errorCode: string | null;
  errorMessage: string | null;
}

/** What a model answered. */
export interface ModelTurnContent {
  text: string;
  parts: TurnPart[];
  usage: TokenUsage;
  metadata: { [name: string]: Json };
  normalised: Normalised;
  modelCall: ModelCallContent;
}

/** A failed attempt, or the reason why a run ended in FAILED. */
export interface FailureContent {
  message: string;
  modelCall?: ModelCallContent;
}

/** The outcome of an execution. `output` counts where it succeeded, `error` elsewhere. */
export interface OutcomeContent {
  output?: Json;
  error?: { code: string; message: string };
  normalised?: Normalised;
}

/** The child session that the start of an execution creates. Its ids follow from that of the execution. */
export interface ChildContent {
  agentName: string;
  agentVersion: number;
  modelId: string;
  /** How many parents are above it. */
  depth: number;
  /** Its first message. */
  message: UserTurnContent;
}

/** Who may decide: any of these, by name or by role; without both, whoever the host lets in. */
export interface Approvers {
  users?: string[];
  roles?: string[];
  /** Whether the user whose session it is may not decide. */
  notUser?: boolean;
}

/** What a person is asked about one call. Nothing of it is a guard's business. */
export interface AskedContent {
  /** Why, for whoever decides; `null` when the policy gave no reason. */
  question: string | null;
  /** Milliseconds until nobody may decide any more; `null`: never. */
  expiresInMs: number | null;
  approvers: Approvers | null;
  /** What comes of an expiry: the call is settled as not done, or the session fails. */
  onExpiry: 'failCall' | 'failSession';
  /** The freezes and budgets that the question names, by id: a grant lets the call start in spite of them. */
  controls?: string[];
}

/** What the start of an attempt does beside starting it. */
export interface StartContent {
  /** The child session that it creates. */
  child?: ChildContent;
  /** The business key of a call that waited while its tool became a later version, where it is another one by now. */
  once?: KeyedContent;
  /** The claim that the call has in place of its former one: decided by the commit. */
  claim?: ClaimContent;
}

/** Params that were upgraded to a later version of their tool. */
export interface UpgradedParams {
  toVersion: number;
  /** Digest of the upgraded params. Key and digest of the call stay those that it was written with. */
  paramsDigest: string;
  content: { params: Json };
}

/** What a person is asked about a call that should have started, and why. */
export interface HeldContent extends AskedContent {
  /** Why it cannot run in the build that wanted to start it. */
  error?: { code: string; message: string };
  /** Where its params were upgraded: the person decides about these. */
  upgrade?: UpgradedParams;
}

/** The params that a person put in place of those that the model gave. */
export interface AmendedContent {
  /** The version of the tool whose schema took them. */
  toolVersion: number;
  params: Json;
  paramsDigest: string;
  repeatable: boolean;
  normalised: Normalised;
  /** The business key of the new params; absent where the tool has none. */
  once?: KeyedContent;
  /** The claim that the call has from then on: decided by the commit. */
  claim?: ClaimContent;
  /** What the call costs with the new params, in millionths of money. */
  costMicroMoney?: number;
}

/** The business key of a call. */
export interface KeyedContent {
  /** Digest of the key with what it counts within. */
  digest: string;
  shareAcrossUsers: boolean;
}

/** A business key that a call holds. */
export interface ClaimContent {
  digest: string;
  generation: number;
}

/** Which earlier call answers a call, and why it does. */
export interface AnsweredContent {
  /** `null`: its session is gone. */
  executionId: string | null;
  /** `repeat`: the same call of the same run; `key`: one with the same business key and params; `otherParams`: with other params. */
  as: 'repeat' | 'key' | 'otherParams';
}

/** A distinct call, as its execution's row will hold it. */
export interface CallContent {
  toolName: string;
  toolVersion: number;
  effect: EffectClass;
  /** Whether identical calls of one turn are executions of their own: then the key holds the ordinal. */
  repeatable: boolean;
  params: Json;
  paramsDigest: string;
  providerCallId: string | null;
  rawInput: string | null;
  /** `null`: it has no deadline, since a child session answers it. */
  timeoutMs: number | null;
  normalised: Normalised;
  /** The child session that its start creates. */
  child?: ChildContent;
  /** What comes of a repeat within the run; absent where it runs. */
  onRepeat?: 'ask' | 'answer';
  /** Its business key; absent where its tool has none. */
  once?: KeyedContent;
  /** The claim that it holds: decided by the commit. */
  claim?: ClaimContent;
  /** What its tool says it costs, in millionths of money; absent where it says nothing. */
  costMicroMoney?: number;
  /** For a call that was settled without running. */
  settled?: OutcomeContent;
  /** For one that was settled with the result of an earlier one. */
  answered?: AnsweredContent;
  /** For a call that waits for a person. */
  asked?: AskedContent;
}
