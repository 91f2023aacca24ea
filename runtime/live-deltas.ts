/** A piece of an answer that is being written in this process, with the place of its attempt among the transitions. */
export interface LiveDelta {
  kind: 'text' | 'reasoning';
  text: string;
  attempt: number;
  runId: string;
  /** The sequence of the last transition that was committed when it came. */
  after: number;
}

/** Told of each piece; must not throw. */
type Watcher = (delta: LiveDelta) => void;

/** What models write at this moment in this process, for whoever follows their sessions. One answer for each session is kept, no more. */
export class LiveDeltas {
  /** By session: the pieces of the attempt that goes on. */
  readonly #current = new Map<string, LiveDelta[]>();
  readonly #watchers = new Map<string, Set<Watcher>>();

  /** Hands a piece to everybody who watches the session, now or before its attempt ends. */
  show(sessionId: string, delta: LiveDelta): void {
    const shown = this.#current.get(sessionId) ?? [];
    const last = shown.at(-1);
    if (last === undefined || last.runId !== delta.runId || last.attempt !== delta.attempt) {
      this.#current.set(sessionId, [delta]);
    } else if (last.kind === delta.kind) shown[shown.length - 1] = { ...last, text: last.text + delta.text };
    else shown.push(delta);
    for (const watcher of this.#watchers.get(sessionId) ?? []) watcher(delta);
  }

  /** The attempt of the session has ended, with an answer or without. */
  end(sessionId: string): void {
    this.#current.delete(sessionId);
  }

  /** Tells `watcher` what the attempt that goes on has shown, then every piece that comes, until the function is called that it returns. */
  watch(sessionId: string, watcher: Watcher): () => void {
    for (const delta of this.#current.get(sessionId) ?? []) watcher(delta);
    const watchers = this.#watchers.get(sessionId) ?? new Set();
    watchers.add(watcher);
    this.#watchers.set(sessionId, watchers);
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers.get(sessionId) === watchers) this.#watchers.delete(sessionId);
    };
  }
}
