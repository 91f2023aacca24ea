import type {
  AttemptResult,
  EventOf,
  PlannedCall,
  SessionEvent,
  StartedAttempt,
} from '../../machines/session-event.ts';

/** Where a call of the present assistant turn is. Each call is in exactly one of these sets. */
export const PLACES = [
  'queued',
  'running',
  'retrying',
  'unknown',
  'again',
  'approval',
  'answer',
  'done',
  'gaveUp',
] as const;

/** One of {@link PLACES}. */
export type Place = (typeof PLACES)[number];

/**
 * What the design says a session does, with sets and counters: no XState, no reducer of ours, no knowledge of statuses. The session
 * machine is compared with it, so it must not share code with it.
 */
export class SessionModel {
  phase: 'idle' | 'model' | 'calls' | 'failed' | 'completed' = 'idle';
  runId: string | null = null;
  turns = 0;
  modelCalls = 0;
  failedModelAttempts = 0;
  /** Calls that were ever made, and answers (tool turns) that were ever given: equal whenever no turn is open. */
  asked = 0;
  answered = 0;
  /** How many tool turns each open call gets. */
  places: Record<Place, Set<string>> = emptyPlaces();
  copies = new Map<string, number>();
  attempts = new Map<string, number>();
  /** Calls of which an attempt that is over may have acted. */
  doubted = new Set<string>();

  /** The name of the state that follows from the sets. */
  get state(): string {
    if (this.phase !== 'calls')
      return { idle: 'IDLE', model: 'PLANNING', failed: 'FAILED', completed: 'COMPLETED' }[this.phase];
    if (this.places.running.size + this.places.retrying.size > 0) return 'EXECUTING_TOOL';
    return this.somebodyIsAsked ? 'AWAITING_INPUT' : 'EXECUTING_TOOL';
  }

  get somebodyIsAsked(): boolean {
    const { approval, answer, unknown } = this.places;
    return approval.size + answer.size + unknown.size > 0;
  }

  /** Every open call, in the order in which they were asked for. */
  get calls(): string[] {
    return [...this.copies.keys()];
  }

  placeOf(call: string): Place | undefined {
    return PLACES.find((place) => this.places[place].has(call));
  }

  /** Takes `event`, or leaves everything as it is and answers false. */
  take(event: SessionEvent): boolean {
    const before = structuredClone({ ...this });
    if (this.#try(event)) return true;
    Object.assign(this, before);
    return false;
  }

  #try(event: SessionEvent): boolean {
    if (this.phase === 'completed') return false;
    switch (event.type) {
      case 'message.enqueued':
      case 'message.rejected':
      case 'worker.tookOver':
      case 'lease.released':
      case 'machine.upgraded':
      case 'memory.stored':
      case 'content.erased':
        return true;
      case 'session.forked':
        if (this.runId !== null || this.turns > 0) return false;
        this.turns = event.originTurnIndex + 1;
        return true;
      case 'user.messaged':
        return event.answersExecutionId === undefined ? this.#begin(event) : this.#answer(event.answersExecutionId);
      case 'model.replied':
      case 'model.calledTools':
      case 'model.attemptFailed':
      case 'model.failed':
        return this.phase === 'model' && event.runId === this.runId && this.#hearModel(event);
      case 'limit.met':
        if (event.runId !== this.runId || !['PLANNING', 'EXECUTING_TOOL'].includes(this.state)) return false;
        return this.#leave('failed');
      case 'run.cancelled':
        return (this.phase === 'model' || this.phase === 'calls') && this.#leave('idle');
      case 'session.retried':
        if (this.phase !== 'failed') return false;
        this.#startRun(event.runId);
        return true;
      case 'session.completed':
        if (this.phase !== 'failed' && this.phase !== 'idle') return false;
        this.phase = 'completed';
        return true;
      case 'tool.evidenced':
        return this.#hearEvidence(event);
      default:
        return this.phase === 'calls' && this.#hearAboutCalls(event);
    }
  }

  #begin({ runId }: EventOf<'user.messaged'>): boolean {
    if (this.phase !== 'idle') return false;
    this.turns += 1;
    this.#startRun(runId);
    return true;
  }

  #startRun(runId: string): void {
    this.phase = 'model';
    this.runId = runId;
    this.modelCalls = 0;
    this.failedModelAttempts = 0;
  }

  #hearModel(event: EventOf<'model.replied' | 'model.calledTools' | 'model.attemptFailed' | 'model.failed'>): boolean {
    if (event.type === 'model.failed') return this.#leave('failed');
    if (event.type === 'model.attemptFailed') {
      this.failedModelAttempts += 1;
      return true;
    }
    if (event.type === 'model.calledTools' && !isPlan(event.calls)) return false;
    this.turns += 1;
    this.modelCalls += 1;
    this.failedModelAttempts = 0;
    if (event.type === 'model.calledTools') return this.#open(event.calls);
    this.phase = event.final ? 'completed' : 'idle';
    return true;
  }

  #open(calls: PlannedCall[]): boolean {
    this.phase = 'calls';
    for (const { executionId, ordinals, verdict, waitsFor } of calls) {
      const asked = waitsFor === 'answer' ? 'answer' : 'approval';
      const place = { start: 'running', queue: 'queued', settled: 'done', ask: asked } as const;
      this.places[place[verdict]].add(executionId);
      this.copies.set(executionId, ordinals.length);
      this.attempts.set(executionId, verdict === 'start' ? 1 : 0);
      this.asked += ordinals.length;
    }
    return this.#closeWhenDone();
  }

  #answer(call: string): boolean {
    return this.state === 'AWAITING_INPUT' && this.#move(call, ['answer'], 'done') && this.#closeWhenDone();
  }

  #hearAboutCalls(event: SessionEvent): boolean {
    switch (event.type) {
      case 'execution.started':
        return this.#each(event.executions, (started) => this.#start(started));
      case 'execution.held':
        return this.#each(event.executionIds, (call) =>
          this.places.again.has(call)
            ? this.#move(call, ['again'], 'unknown')
            : this.#move(call, ['queued'], 'approval'),
        );
      case 'execution.refused':
        return (
          this.state === 'EXECUTING_TOOL' &&
          this.#each(event.executions, ({ executionId }) => this.#move(executionId, ['queued'], 'done'))
        );
      case 'approval.superseded':
        return this.#each(event.executionIds, (call) => this.#move(call, ['approval', 'answer'], 'done'));
      case 'tool.settled':
        return this.#each(event.results, (result) => {
          const isDoubted = this.doubted.has(result.executionId);
          const mayEnd = result.outcome === 'failed' || (result.outcome === 'timedOut' && isDoubted);
          return this.#hear(result, mayEnd ? ['running', 'retrying'] : ['running']);
        });
      case 'tool.outcomeUnknown':
        return this.#each(
          event.executions,
          ({ executionId: call, attempt }) =>
            attempt === this.attempts.get(call) && this.#move(call, ['running'], 'unknown'),
        );
      case 'tool.attemptFailed':
        return this.#each(event.results, ({ executionId: call, attempt, unknown }) => {
          if (unknown !== undefined) this.doubted.add(call);
          return attempt === this.attempts.get(call) && this.#move(call, ['running'], 'retrying');
        });
      case 'approval.granted':
      case 'approval.amended':
        return this.#move(event.executionId, ['approval'], 'queued');
      case 'approval.denied':
        return this.#move(event.executionId, ['approval', 'answer'], 'done') && this.#closeWhenDone();
      case 'input.expired':
        if (this.state !== 'AWAITING_INPUT') return false;
        if (!this.#each(event.executionIds, (call) => this.#move(call, ['approval', 'answer'], 'done'))) return false;
        return event.fails ? this.#leave('failed') : true;
      case 'execution.settledByPerson':
        if (event.outcome === 'runAgain') return this.#move(event.executionId, ['unknown'], 'again');
        return (
          this.#move(event.executionId, ['queued', 'approval', 'answer', 'unknown', 'again'], 'done') &&
          this.#closeWhenDone()
        );
      default:
        return false;
    }
  }

  #start({ executionId: call, attempt, before }: StartedAttempt): boolean {
    if (attempt !== (this.attempts.get(call) ?? Number.NaN) + 1) return false;
    const isUnderWay = this.places.running.has(call) || this.places.retrying.has(call);
    if (!isUnderWay && this.somebodyIsAsked) return false;
    this.attempts.set(call, attempt);
    if (before === 'notDone') this.doubted.delete(call);
    else if (before !== undefined) this.doubted.add(call);
    return this.#move(call, ['running', 'retrying', 'queued', 'again', 'gaveUp'], 'running');
  }

  #hear({ executionId: call, attempt, outcome }: AttemptResult, from: Place[]): boolean {
    if (attempt !== this.attempts.get(call)) return false;
    const isOpen = outcome === 'failed' && this.doubted.has(call);
    return this.#move(call, from, isOpen ? 'unknown' : outcome === 'timedOut' ? 'gaveUp' : 'done');
  }

  #hearEvidence(event: EventOf<'tool.evidenced'>): boolean {
    const { results, systemTurns } = event;
    const open: Place[] = ['running', 'retrying', 'unknown', 'again', 'gaveUp'];
    // That the last attempt failed says nothing of one before it that may have acted.
    const fits = ({ executionId, attempt, outcome }: AttemptResult) => {
      const places = outcome === 'failed' && this.doubted.has(executionId) ? (['running'] as const) : open;
      return places.some((place) => this.places[place].has(executionId)) && this.attempts.get(executionId) === attempt;
    };
    if (results.length === 0) return false;
    if (results.some(fits)) return this.#each(results, (result) => fits(result) && this.#hear(result, open));
    this.turns += systemTurns;
    return true;
  }

  /** Each of a list of facts about different calls, all or none. */
  #each<Fact extends string | { executionId: string }>(facts: Fact[], take: (fact: Fact) => boolean): boolean {
    const calls = new Set(facts.map((fact) => (typeof fact === 'string' ? fact : fact.executionId)));
    if (facts.length === 0 || calls.size !== facts.length) return false;
    return facts.every(take) && this.#closeWhenDone();
  }

  #move(call: string, from: Place[], to: Place): boolean {
    const place = from.find((name) => this.places[name].delete(call));
    if (place !== undefined) this.places[to].add(call);
    return place !== undefined;
  }

  /** Once every call is over, all are answered and the model is asked. */
  #closeWhenDone(): boolean {
    const over = this.places.done.size + this.places.gaveUp.size === this.copies.size;
    return over ? this.#leave('model') : true;
  }

  #leave(phase: SessionModel['phase']): boolean {
    for (const copies of this.copies.values()) {
      this.turns += copies;
      this.answered += copies;
    }
    this.places = emptyPlaces();
    this.copies = new Map();
    this.attempts = new Map();
    this.doubted = new Set();
    this.phase = phase;
    return true;
  }
}

function emptyPlaces(): Record<Place, Set<string>> {
  return Object.fromEntries(PLACES.map((place) => [place, new Set<string>()])) as Record<Place, Set<string>>;
}

/** At least one call, each of its own, whose places are 0, 1, 2 …; none starts while another one asks. */
function isPlan(calls: PlannedCall[]): boolean {
  const ordinals = calls.flatMap((call) => call.ordinals);
  const verdicts = new Set(calls.map((call) => call.verdict));
  if (verdicts.has('start') && verdicts.has('ask')) return false;
  if (new Set(calls.map((call) => call.executionId)).size !== calls.length) return false;
  if (calls.some((call) => call.ordinals.length === 0)) return false;
  return (
    calls.length > 0 && new Set(ordinals).size === ordinals.length && Math.max(...ordinals) === ordinals.length - 1
  );
}
