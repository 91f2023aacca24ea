import { createInspector } from '@statelyai/inspect';
import { TurnlockError } from '../../errors.ts';
import { nextSnapshot } from '../../machines/next-snapshot.ts';
import { sessionMachine } from '../../machines/session.machine.ts';
import type { SessionEvent } from '../../machines/session-event.ts';
import { initialSnapshot, type SessionSnapshot } from '../../machines/snapshot-codec.ts';
import type { StoredTransition } from '../../persistence/read-transitions.ts';
import type { LogEntry } from '../../runtime/log.ts';
import type { SessionReading } from '../../runtime/session-reading.ts';
import { Wire } from './wire.ts';

export { type ServedStately, type ServeStatelyOptions, serveStately } from './serve-stately.ts';

/** What `statelyInspector` takes. */
export interface StatelyOptions {
  /** Where the inspector listens: `ws:` or `wss:`. Default `ws://127.0.0.1:8080`. */
  url?: string;
  /** How many messages are kept while nobody listens, 1 to 10,000; the oldest are let go. Default 200. */
  maxBuffered?: number;
}

/** A session whose transitions are shown. */
export type ShownSession = Pick<SessionReading, 'sessionId' | 'transitions' | 'follow'>;

/** The Stately inspector, fed with committed transitions. Nothing of it can break or slow a run. */
export interface StatelyInspector {
  /**
   * Shows a session: its transitions so far, then each as it is committed, by whatever process. `after`: only those of later sequence; those
   * before are folded unseen. Resolves when `signal` aborts, when the inspector is stopped, or when the runtime closes.
   *
   * @throws OPTIONS_INVALID, RUNTIME_CLOSED, DATABASE_UNREACHABLE.
   */
  session(session: ShownSession, options?: { after?: number; signal?: AbortSignal }): Promise<void>;
  /**
   * Shows the recorded transitions of a session as a fold goes through them, without a context where a payload was erased. Resolves to how
   * many there are. Runs nothing.
   *
   * @throws RUNTIME_CLOSED, DATABASE_UNREACHABLE.
   */
  replay(session: ShownSession): Promise<number>;
  /** A `log` of `createRuntime` that shows every session to which this process commits: states and names of events alone. */
  log(entry: LogEntry): void;
  /** Sends nothing more. */
  stop(): void;
}

/** How many sessions are remembered as introduced; beyond it the oldest are introduced again. */
const MAX_KNOWN = 1_000;

/** What is asked for at once of a session that is replayed. */
const PAGE = 200;

type Shown = { status: 'active' | 'done'; value: unknown; context?: unknown };

/**
 * Feeds the Stately inspector with sessions and the machine's definition, over a WebSocket: `serveStately`, the package's own relay, or a
 * receiver of yours. It connects when there is something to send, and again when the next message comes; while nobody listens a bounded
 * number is kept.
 *
 * @throws OPTIONS_INVALID for an option that is not accepted.
 *
 * @example
 * const stately = statelyInspector({ url: 'ws://127.0.0.1:8080' });
 * const runtime = await createRuntime({ database: pglite('.turnlock'), agents: [support], log: stately.log });
 */
export function statelyInspector(options: StatelyOptions = {}): StatelyInspector {
  const { url, maxBuffered } = check(options);
  const wire = new Wire(url, maxBuffered);
  const stopped = new AbortController();
  const inspector = createInspector({ send: (event) => wire.send(JSON.stringify(event)) });
  const known = new Set<string>();
  const introduce = (sessionId: string, shown: Shown) => {
    known.delete(sessionId);
    known.add(sessionId);
    if (known.size > MAX_KNOWN) known.delete(known.values().next().value ?? '');
    quietly(() => inspector.actor(refOf(sessionId), shown));
  };
  const show = (sessionId: string, event: { type: string }, shown: Shown) =>
    quietly(() => {
      inspector.event(refOf(sessionId), event);
      inspector.snapshot(refOf(sessionId), shown, { event });
    });
  /** Folds on, and shows what comes of it. */
  const begin = (sessionId: string, after: number) => {
    let held: SessionSnapshot | null = initialSnapshot();
    let isIntroduced = false;
    return (transition: StoredTransition) => {
      const before = shownOf(held, transition.from);
      held = foldOn(held, transition);
      if (transition.sequence <= after) return;
      if (!isIntroduced) introduce(sessionId, before);
      isIntroduced = true;
      show(sessionId, transition.event ?? { type: transition.type }, shownOf(held, transition.to));
    };
  };
  return {
    async session(session, { after = 0, signal } = {}) {
      const until = signal === undefined ? stopped.signal : AbortSignal.any([signal, stopped.signal]);
      const step = begin(session.sessionId, after);
      wire.connect();
      for await (const seen of session.follow({ signal: until })) {
        if (seen.type !== 'transition') continue;
        await wire.drained();
        step(seen.transition);
      }
    },
    async replay(session) {
      const step = begin(session.sessionId, 0);
      let count = 0;
      wire.connect();
      for (;;) {
        await wire.drained();
        const page = await session.transitions({ after: count, limit: PAGE });
        for (const transition of page) step(transition);
        count = page.at(-1)?.sequence ?? count;
        if (page.length < PAGE) return count;
      }
    },
    log({ event, attributes }) {
      const { sessionId, from, to, event: type } = attributes;
      if (event !== 'commit.done' || typeof sessionId !== 'string') return;
      if (!known.has(sessionId)) introduce(sessionId, shownOf(null, String(from)));
      show(sessionId, { type: String(type) }, shownOf(null, String(to)));
    },
    stop() {
      stopped.abort();
      wire.stop();
    },
  };
}

/** What stands for an actor: the definition is taken from it. With an id alone the package drops it. */
function refOf(sessionId: string): Parameters<ReturnType<typeof createInspector>['actor']>[0] {
  return { sessionId, id: sessionId, logic: { config: sessionMachine.config } } as never;
}

function foldOn(held: SessionSnapshot | null, { event, to }: StoredTransition): SessionSnapshot | null {
  if (held === null || event === null) return null;
  try {
    const next = nextSnapshot(held, event as unknown as SessionEvent);
    return next.value === to ? next : null;
  } catch {
    return null;
  }
}

function shownOf(held: SessionSnapshot | null, state: string): Shown {
  if (held !== null)
    return { status: held.status === 'done' ? 'done' : 'active', value: held.value, context: held.context };
  return { status: state === 'COMPLETED' ? 'done' : 'active', value: state };
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // An inspector that fails shows less; the run is none of its business.
  }
}

function check(options: StatelyOptions): Required<StatelyOptions> {
  const { url = 'ws://127.0.0.1:8080', maxBuffered = 200, ...rest } = { ...options };
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw refused(unknown, 'url, maxBuffered');
  if (typeof url !== 'string' || !URL.canParse(url) || !/^wss?:$/.test(new URL(url).protocol))
    throw refused('url', 'a URL of ws: or wss:');
  if (!Number.isInteger(maxBuffered) || maxBuffered < 1 || maxBuffered > 10_000)
    throw refused('maxBuffered', 'a whole number from 1 to 10000');
  return { url, maxBuffered };
}

function refused(option: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `option not accepted: ${option} of statelyInspector (wanted ${wanted})`,
  });
}
