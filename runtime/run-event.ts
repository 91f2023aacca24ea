import type { Json } from '../machines/event-content.ts';
import type { RecordedEvent } from '../machines/session-event.ts';
import type { SessionState } from '../machines/session-state.ts';
import type { TurnRow } from '../persistence/row-changes.ts';

/** What a run shows while it goes on. Deltas are never stored; transitions are committed before they are shown. */
export type RunEvent =
  | {
      type: 'delta';
      kind: 'text' | 'reasoning';
      text: string;
      /** The attempt that wrote it. A delta of a later attempt voids those of earlier ones. */
      attempt: number;
      runId: string;
    }
  | {
      type: 'transition';
      /** Of the session; rises by 1 with every transition. */
      sequence: number;
      from: SessionState;
      to: SessionState;
      event: RecordedEvent;
      /** The turns that were committed with it. */
      turns: TurnRow[];
      runId: string | null;
    };

/** An execution that waits for a person. */
export interface AwaitedExecution {
  /** The session whose call it is: the one that was asked, or a child below it. */
  sessionId: string;
  executionId: string;
  /** The question itself, as `runtime.awaiting()` and the `onAwaiting` hook name it: a decision that names it answers no later one. */
  approvalId: string;
  toolName: string;
  params: Json;
  /**
   * Why it cannot run in the build that wanted to start it: its tool is gone (TOOL_UNKNOWN), or its params could not be upgraded
   * (UPGRADE_FAILED), or they were changed past the runtime (PARAMS_CHANGED: no approval is taken); `null` where it is something else that a person is asked.
   */
  problem: { code: string; message: string } | null;
  /** `unknown`: it was started and nothing says how it ended; `approval`: a policy asks; `answer`: the agent asks. */
  reason: 'unknown' | 'approval' | 'answer';
  idempotencyKey: string;
  /** Digest of the params: names them in a decision. */
  digest: string;
}

/** How a run came to rest. */
export interface RunResult<Output = unknown> {
  sessionId: string;
  runId: string;
  /**
   * The state in which the session rests. EXECUTING_TOOL where it cannot go on before a person decides about a call of a child session: then it
   * goes on by itself once that is decided.
   */
  state: SessionState;
  /** Whether the run has not begun: its message waits until the session goes on, for example until a person has decided. */
  queued: boolean;
  /** The agent's last words of this run; `null` when it has not replied. */
  reply: string | null;
  /** What the reply says, validated by the agent's `output`; `null` where it is none. */
  output: Output | null;
  /** What a person is asked, by this session or a child below it; empty where nobody is. */
  awaiting: AwaitedExecution[];
  /** Why the run ended in FAILED, that it was cancelled, or why its message was refused. */
  error: { code: string; message: string } | null;
}
