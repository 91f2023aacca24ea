import type { Json, TurnPart } from '../../../machines/event-content.ts';
import type { SessionStory, StoredModelCall, StoredRound } from '../../../persistence/read-session-story.ts';
import type { StoredTransition } from '../../../persistence/read-transitions.ts';
import type { ExecutionRow } from '../../../persistence/row-changes.ts';
import type { SessionRecord } from '../session-record.ts';
import type { StoryEntry } from './story.ts';

/** What is known while a story is told: rows by their ids, and what began when. */
export class Telling {
  readonly record: SessionRecord;
  readonly executions: ReadonlyMap<string, ExecutionRow>;
  /** The last transition that settled each execution. */
  readonly lastSettledBy: ReadonlyMap<string, number>;
  readonly #rounds: readonly StoredRound[];
  readonly #modelCalls: StoredModelCall[];
  readonly #calledWith: ReadonlyMap<string, Json>;
  readonly #begun = new Map<string, Date>();

  constructor(record: SessionRecord, { modelCalls, rounds }: SessionStory) {
    this.record = record;
    this.executions = new Map(record.executions.map((row) => [row.executionId, row]));
    this.lastSettledBy = new Map(
      record.transitions.flatMap(({ sequence, settled }) => settled.map((id) => [id, sequence] as const)),
    );
    this.#rounds = rounds;
    this.#modelCalls = [...modelCalls];
    this.#calledWith = new Map(
      record.turns.flatMap(({ parts }) =>
        (parts as TurnPart[]).flatMap((part) =>
          part.type === 'toolCall' ? [[part.executionId, part.input] as const] : [],
        ),
      ),
    );
  }

  /** An entry of a transition about which nothing more is known. */
  entry(
    { sequence, createdAt, runId, type }: StoredTransition,
    { speaker, who }: Pick<StoryEntry, 'speaker' | 'who'>,
  ): StoryEntry {
    const nothing = { did: null, said: null, turnIndex: null, tool: null, executionId: null, attempt: null };
    const when = { sequence, at: createdAt, runId, event: type };
    return { ...when, speaker, who, ...nothing, error: null, tookMs: null, model: null };
  }

  /** The tool of an execution. */
  nameOf(executionId: string): string {
    return this.executions.get(executionId)?.toolName ?? executionId;
  }

  /** An attempt begins. */
  begin(executionId: string, attempt: number, at: Date): void {
    this.#begun.set(`${executionId} ${attempt}`, at);
  }

  /** Milliseconds from the begin of an attempt; `null` where nobody saw it begin. */
  tookMs(executionId: string, attempt: number, until: Date): number | null {
    const since = this.#begun.get(`${executionId} ${attempt}`);
    return since === undefined ? null : until.getTime() - since.getTime();
  }

  /** What a call was made with at first; a person may have changed it since. */
  firstParamsOf(executionId: string): Json | undefined {
    const row = this.executions.get(executionId);
    return row?.rawInput ?? this.#calledWith.get(executionId) ?? row?.inputParameters;
  }

  /** The last round of asking about a call that was opened by then. */
  roundOf(executionId: string, at: Date): StoredRound | null {
    return this.#rounds.findLast((round) => round.executionId === executionId && round.requestedAt <= at) ?? null;
  }

  /** Milliseconds for which people were waited for until a call was decided. */
  waitedMs(executionId: string, at: Date): number | null {
    const round = this.roundOf(executionId, at);
    return round === null ? null : at.getTime() - round.requestedAt.getTime();
  }

  /** The attempt of a model call that a transition is about: the next one of its run that ended as it says. */
  takeModelCall(runId: string | null, isFailed: boolean): StoredModelCall | null {
    const place = this.#modelCalls.findIndex(
      (call) => call.runId === runId && (call.errorMessage !== null || call.errorCode !== null) === isFailed,
    );
    return place < 0 ? null : (this.#modelCalls.splice(place, 1)[0] ?? null);
  }
}
