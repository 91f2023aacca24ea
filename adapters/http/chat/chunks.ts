import type { Json } from '../../../machines/event-content.ts';

/** What a person is asked about a call: comes back unchanged with the answer, and binds it to what was seen. */
export interface ApprovalDescriptor {
  executionId: string;
  approvalId: string;
  /** Digest of the params that were shown. */
  digest: string;
  round: number;
  expiresAt: string | null;
  /** Why no approval is taken; `null` where one is. */
  problem: { code: string; message: string } | null;
}

/** `data-unknownOutcome`: the call was started, and nothing says how it ended. It is no error: it may have taken effect. */
export interface UnknownOutcome {
  executionId: string;
  toolName: string;
  /** Why nobody knows; `null` where it was given up. */
  reason: string | null;
  /** How a person settled it; `null` while nobody has. */
  settledAs: string | null;
}

/** `data-awaitingOthers`: the call waits for the approval of somebody else than who looks. It counts while the call is `input-available`. */
export interface AwaitingOthers {
  executionId: string;
  toolName: string;
  question: string | null;
  expiresAt: string | null;
}

/** The part of the AI SDK's UI message stream (version 1) that chats here speak. */
export type ChatChunk =
  | { type: 'start'; messageId: string }
  | { type: 'start-step' }
  | { type: 'finish-step' }
  | { type: 'reset-step' }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: Json }
  | {
      type: 'tool-approval-request';
      approvalId: string;
      toolCallId: string;
      approvalDescriptor?: ApprovalDescriptor;
      reason?: string;
    }
  | { type: 'tool-approval-response'; approvalId: string; approved: boolean; reason?: string }
  | { type: 'tool-output-available'; toolCallId: string; output: Json }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string }
  | { type: 'tool-output-denied'; toolCallId: string }
  | { type: 'data-unknownOutcome'; id: string; data: UnknownOutcome }
  | { type: 'data-question'; id: string; data: { executionId: string; question: string | null } }
  | { type: 'data-awaitingOthers'; id: string; data: AwaitingOthers }
  | { type: 'data-notice'; id: string; data: { text: string } }
  | { type: 'data-queued'; data: { runId: string }; transient: true }
  | { type: 'error'; errorText: string }
  | { type: 'abort'; reason: string }
  | { type: 'finish'; finishReason: 'stop' | 'tool-calls' | 'error' | 'other' };

/** A part of a message of the AI SDK. */
export type ChatPart =
  | { type: 'step-start' }
  | { type: 'text' | 'reasoning'; text: string; state: 'streaming' | 'done' }
  | { type: `data-${string}`; id?: string; data: unknown }
  | ChatToolPart;

/** A call in a message of the AI SDK. */
export interface ChatToolPart {
  type: `tool-${string}`;
  toolCallId: string;
  state:
    | 'input-available'
    | 'approval-requested'
    | 'approval-responded'
    | 'output-available'
    | 'output-error'
    | 'output-denied';
  input: Json;
  output?: Json;
  errorText?: string;
  approval?: {
    id: string;
    descriptor?: ApprovalDescriptor;
    requestReason?: string;
    approved?: boolean;
    reason?: string;
  };
}

/** A message of the AI SDK, as `useChat` is given it at its begin. */
export interface ChatMessage {
  id: string;
  role: 'user' | 'assistant';
  parts: ChatPart[];
}
