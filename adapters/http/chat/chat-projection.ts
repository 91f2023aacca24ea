import type { Json, TurnPart } from '../../../machines/event-content.ts';
import type { ExecutionStatus } from '../../../machines/execution-status.ts';
import type { StoredTransition } from '../../../persistence/read-transitions.ts';
import type { StoredTurn } from '../../../persistence/read-turns.ts';
import type { ChatChunk } from './chunks.ts';
import type { WaitingCall } from './waiting-calls.ts';

/** What is shown of an execution. */
export interface ShownExecution {
  executionId: string;
  status: ExecutionStatus;
  inputParameters: Json;
  outputPayload: Json | null;
  errorMessage: string | null;
}

interface Speech {
  kind: 'text' | 'reasoning';
  text: string;
}

/**
 * One message of an assistant as chunks: what is committed, with the pieces of the answer that is being written. A piece that turns out void
 * is taken back by `reset-step`. A call is named by its execution, so that it is shown once however often the model repeated it.
 */
export class ChatProjection {
  /** Whether the pieces of a step stand in the message that no turn has confirmed. */
  #isWriting = false;
  #hasStep = false;
  #active: { kind: Speech['kind']; id: string } | null = null;
  #written: Speech[] = [];
  #ids = 0;
  readonly #calls = new Map<string, string>();
  readonly #answered = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #denied = new Set<string>();
  readonly #unknown = new Map<string, string | null>();

  /** A piece of the answer that is being written. */
  delta({ kind, text }: Speech): ChatChunk[] {
    const last = this.#written.at(-1);
    if (last?.kind === kind) last.text += text;
    else this.#written.push({ kind, text });
    return [...this.#beginStep(), ...this.#say(kind, text)];
  }

  /** The pieces that were written are void. */
  voided(): ChatChunk[] {
    if (!this.#isWriting) return [];
    this.#active = null;
    this.#written = [];
    return [{ type: 'reset-step' }];
  }

  /** A commit, with the turns that it wrote and the executions that they, and its event, name. */
  transition(
    { event, type, runId }: StoredTransition,
    turns: readonly StoredTurn[],
    executions: ReadonlyMap<string, ShownExecution>,
  ): ChatChunk[] {
    return [
      ...this.#happened(event ?? { type }, executions),
      ...turns.flatMap((turn) => {
        if (turn.role === 'assistant') return this.#assistant(turn);
        if (turn.role === 'tool') return this.#answer(turn, executions);
        if (turn.role === 'user') return [];
        const id = `${runId}:${turn.turnIndex}`;
        return [{ type: 'data-notice', id, data: { text: turn.content } } satisfies ChatChunk];
      }),
    ];
  }

  /** What people are asked about calls of the message. */
  asked(awaiting: readonly WaitingCall[]): ChatChunk[] {
    return awaiting.flatMap((asked): ChatChunk[] => {
      const { executionId, approvalId, digest, round, reason, question, expiresAt, problem } = asked;
      if (!this.#calls.has(executionId)) return [];
      if (reason === 'answer') return [{ type: 'data-question', id: executionId, data: { executionId, question } }];
      if (reason === 'unknown') return this.#noteUnknown(executionId, asked.unknownReason, null);
      if (!asked.isMine) {
        const data = { executionId, toolName: asked.toolName, question, expiresAt: expiresAt?.toISOString() ?? null };
        return [{ type: 'data-awaitingOthers', id: executionId, data }];
      }
      this.#asked.add(executionId);
      const approvalDescriptor = {
        ...{ executionId, approvalId, digest, round, problem },
        expiresAt: expiresAt?.toISOString() ?? null,
      };
      const ids = { approvalId: executionId, toolCallId: executionId };
      const why = question === null ? {} : { reason: question };
      return [{ type: 'tool-approval-request', ...ids, approvalDescriptor, ...why }];
    });
  }

  /** The end of the message's last step. */
  end(): ChatChunk[] {
    if (!this.#hasStep) return [];
    this.#hasStep = false;
    return [...this.#hush(), { type: 'finish-step' }];
  }

  #assistant(turn: StoredTurn): ChatChunk[] {
    const parts = turn.parts as TurnPart[];
    const speech: Speech[] = [];
    for (const part of parts) {
      if ((part.type !== 'text' && part.type !== 'reasoning') || part.text === '') continue;
      const last = speech.at(-1);
      if (last?.kind === part.type) last.text += part.text;
      else speech.push({ kind: part.type, text: part.text });
    }
    const isShown = this.#isWriting && JSON.stringify(speech) === JSON.stringify(this.#written);
    const spoken = isShown
      ? this.#hush()
      : [
          ...this.voided(),
          ...this.#beginStep(),
          ...speech.flatMap(({ kind, text }) => this.#say(kind, text)),
          ...this.#hush(),
        ];
    this.#isWriting = false;
    this.#written = [];
    return [...spoken, ...parts.flatMap((part) => (part.type === 'toolCall' ? this.#call(part) : []))];
  }

  #call({ executionId, toolName, input }: Extract<TurnPart, { type: 'toolCall' }>): ChatChunk[] {
    if (this.#calls.has(executionId)) return [];
    this.#calls.set(executionId, toolName);
    return [{ type: 'tool-input-available', toolCallId: executionId, toolName, input }];
  }

  #answer(turn: StoredTurn, executions: ReadonlyMap<string, ShownExecution>): ChatChunk[] {
    const toolCallId = turn.executionId ?? '';
    // A call of an earlier message is not there to be answered.
    if (!this.#calls.has(toolCallId) || this.#answered.has(toolCallId)) return [];
    this.#answered.add(toolCallId);
    const [result] = turn.parts as unknown as [{ outcome: string }];
    const execution = executions.get(toolCallId);
    if (result.outcome === 'succeeded') {
      return [{ type: 'tool-output-available', toolCallId, output: execution?.outputPayload ?? null }];
    }
    if (result.outcome === 'failed') {
      if (this.#denied.has(toolCallId)) return [{ type: 'tool-output-denied', toolCallId }];
      return [{ type: 'tool-output-error', toolCallId, errorText: execution?.errorMessage ?? turn.content }];
    }
    const reason = this.#unknown.get(toolCallId) ?? null;
    const output = { outcome: 'unknown', message: turn.content };
    return [...this.#noteUnknown(toolCallId, reason, null), { type: 'tool-output-available', toolCallId, output }];
  }

  #happened(event: Record<string, unknown>, executions: ReadonlyMap<string, ShownExecution>): ChatChunk[] {
    const executionId = String(event.executionId);
    switch (event.type) {
      case 'approval.granted':
        return this.#decided(executionId, true);
      case 'approval.denied':
        return this.#decided(executionId, false);
      case 'approval.amended': {
        const toolName = this.#calls.get(executionId);
        const amended = executions.get(executionId);
        if (toolName === undefined || amended === undefined) return [];
        const input = amended.inputParameters;
        return [
          { type: 'tool-input-available', toolCallId: executionId, toolName, input },
          ...this.#decided(executionId, true, true),
        ];
      }
      case 'tool.outcomeUnknown':
        return (event.executions as { executionId: string; reason: string }[]).flatMap((one) =>
          this.#noteUnknown(one.executionId, one.reason, null),
        );
      case 'execution.settledByPerson': {
        if (!this.#unknown.has(executionId)) return [];
        return this.#noteUnknown(executionId, this.#unknown.get(executionId) ?? null, String(event.outcome));
      }
      default:
        return [];
    }
  }

  #decided(executionId: string, approved: boolean, asksAgain = false): ChatChunk[] {
    if (!this.#calls.has(executionId)) return [];
    if (!approved) this.#denied.add(executionId);
    const isAsked = this.#asked.has(executionId) && !asksAgain;
    const ids = { approvalId: executionId, toolCallId: executionId };
    return [
      ...(isAsked ? [] : [{ type: 'tool-approval-request', ...ids } satisfies ChatChunk]),
      { type: 'tool-approval-response', approvalId: executionId, approved },
    ];
  }

  #noteUnknown(executionId: string, reason: string | null, settledAs: string | null): ChatChunk[] {
    const toolName = this.#calls.get(executionId);
    if (toolName === undefined) return [];
    this.#unknown.set(executionId, reason);
    return [{ type: 'data-unknownOutcome', id: executionId, data: { executionId, toolName, reason, settledAs } }];
  }

  #beginStep(): ChatChunk[] {
    if (this.#isWriting) return [];
    this.#isWriting = true;
    const before = this.end();
    this.#hasStep = true;
    return [...before, { type: 'start-step' }];
  }

  #say(kind: Speech['kind'], text: string): ChatChunk[] {
    if (this.#active?.kind === kind) return [{ type: `${kind}-delta`, id: this.#active.id, delta: text }];
    const before = this.#hush();
    const id = `${kind}-${this.#ids}`;
    this.#ids += 1;
    this.#active = { kind, id };
    return [...before, { type: `${kind}-start`, id }, { type: `${kind}-delta`, id, delta: text }];
  }

  #hush(): ChatChunk[] {
    if (this.#active === null) return [];
    const { kind, id } = this.#active;
    this.#active = null;
    return [{ type: `${kind}-end`, id }];
  }
}
