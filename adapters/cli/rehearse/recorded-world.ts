import type { Act } from './act.ts';
import { actIdentity } from './act.ts';
import type { Transcript } from './transcript.ts';

/** What the outside world saw of one act. */
export interface SeenAct {
  identity: string;
  /** Idempotency keys that differ: to a receiver that honours them, so often it happened. */
  distinctKeys: number;
  /** Requests, repeats after a crash among them. */
  invocations: number;
}

/** The outside world of a rehearsal: it counts what it is asked to do and answers as recorded. */
export class RecordedWorld {
  readonly #byId: ReadonlyMap<string, Transcript>;
  readonly #seen = new Map<string, { keys: Set<string>; invocations: number }>();

  constructor(transcripts: readonly Transcript[]) {
    this.#byId = new Map(transcripts.map((transcript) => [transcript.id, transcript]));
  }

  /** Counts one request. @returns whether its key was never seen before. */
  note(act: Act, key: string): boolean {
    const identity = actIdentity(act);
    const seen = this.#seen.get(identity) ?? { keys: new Set(), invocations: 0 };
    this.#seen.set(identity, seen);
    seen.invocations += 1;
    const isNew = !seen.keys.has(key);
    seen.keys.add(key);
    return isNew;
  }

  /** The recorded answer; `undefined` for an act that was never recorded. */
  outputOf(act: Act): string | undefined {
    const turn = this.#byId.get(act.transcriptId)?.turns[act.turnIndex];
    const call = turn?.role === 'assistant' ? turn.calls[act.ordinal] : undefined;
    return call !== undefined && actIdentity({ ...act, ...call }) === actIdentity(act) ? call.output : undefined;
  }

  /** Everything counted so far. */
  seen(): SeenAct[] {
    return [...this.#seen].map(([identity, { keys, invocations }]) => ({
      identity,
      distinctKeys: keys.size,
      invocations,
    }));
  }
}
