import { type Awaiting, isTurnlockError, type Session } from '../../../index.ts';
import type { Say } from './ledger.ts';
import type { Move } from './plot.ts';
import { textOf } from './plot-agent.ts';
import { HOUR_MS, type Stage } from './stage.ts';

/** What somebody who decides may be told: another was first, it is too late, or it does not fit. */
const MAY_BE_TOLD = [
  ...['APPROVAL_DECIDED', 'APPROVAL_EXPIRED', 'APPROVAL_STALE', 'APPROVAL_NOT_ASKED', 'KEY_CONFLICT'],
  ...['EXECUTION_SETTLED', 'EXECUTION_RUNNING', 'OUTCOME_INVALID', 'POLICY_DENIED'],
];

type Saying = Pick<Say, 'does'> & { n?: number; digest?: string; by?: string };

/** People who decide about what waits in one session, one decision after the other. */
export class People {
  readonly #stage: Stage;
  readonly #moves: Move[];
  #names = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#moves = [...stage.plot.moves];
  }

  /** The next move; once all are made, what brings everything to its end. */
  take(): Move {
    return this.#moves.shift() ?? { does: 'truth', which: 0, n: 1 };
  }

  /** Somebody looks at what waits in the session, and decides about one call. */
  async decide(place: number): Promise<void> {
    const { tenantId } = this.#stage;
    const people = await this.#stage.people();
    const session = await this.#stage.session(people, place);
    const waiting = await people.awaiting({ tenantId, sessionId: session.sessionId });
    if (waiting.length === 0) return;
    const move = this.take();
    const asked = waiting[move.which % waiting.length]!;
    if (move.does === 'cancel') return this.cancel(place);
    if (asked.reason === 'unknown') await this.#settle(session, asked, move);
    else await this.#approve(place, session, asked, move);
  }

  /** Whoever lives cancels the run. */
  async cancel(place: number): Promise<void> {
    await this.#stage.withLiving(async (runtime) => (await this.#stage.session(runtime, place)).cancel({ by: 'ann' }));
  }

  async #settle(session: Session, { executionId }: Awaiting, { does }: Move): Promise<void> {
    if (does === 'approve' || does === 'deny') {
      await this.#mustBeRefused(session, executionId, { does: does === 'approve' ? 'grant' : 'deny' });
    }
    const didAct = this.#stage.ledger.hasActed(executionId);
    const isSaid = does === 'succeeded' || does === 'failed' || does === 'runAgain';
    await this.#say(session, executionId, { does: isSaid ? does : didAct ? 'succeeded' : 'runAgain' });
  }

  async #approve(place: number, session: Session, asked: Awaiting, { does, n }: Move): Promise<void> {
    const { executionId, digest, expiresAt } = asked;
    const grant = { does: 'grant', digest } as const;
    switch (does) {
      case 'amend':
        return void (await this.#say(session, executionId, { ...grant, n }));
      case 'deny':
      case 'succeeded':
      case 'failed':
        return void (await this.#say(session, executionId, { does }));
      case 'both':
        return this.#both(place, session, executionId);
      case 'twice':
        return this.#twice(session, executionId);
      case 'stale':
        return this.#mustBeRefused(session, executionId, { does: 'grant', digest: 'another' });
      case 'late':
      case 'expire':
        if (expiresAt === null) return void (await this.#say(session, executionId, { does: 'deny' }));
        await this.#stage.database.moveClock(HOUR_MS);
        if (does === 'late') await this.#mustBeRefused(session, executionId, grant);
        return;
      case 'supersede':
        return this.#supersede(place);
      case 'runAgain':
        return this.#mustBeRefused(session, executionId, { does });
      default:
        return void (await this.#say(session, executionId, grant));
    }
  }

  /** One grants it and another one refuses it, in two processes. */
  async #both(place: number, session: Session, executionId: string): Promise<void> {
    const { present } = this.#stage;
    const denying = this.#stage.asLongAs(present, async (runtime) =>
      this.#say(await this.#stage.session(runtime, place), executionId, { does: 'deny' }),
    );
    await Promise.all([this.#say(session, executionId, { does: 'grant' }), denying]);
  }

  /** The same by the same person is nothing new; by another one it is refused. */
  async #twice(session: Session, executionId: string): Promise<void> {
    const by = this.#nextName();
    if (!(await this.#say(session, executionId, { does: 'grant', by }))) return;
    await session.approve(executionId, { by });
    await this.#mustBeRefused(session, executionId, { does: 'grant' });
  }

  async #supersede(place: number): Promise<void> {
    const messageId = `instead ${this.#nextName()}`;
    await this.#stage.withLiving(async (runtime) => {
      const session = await this.#stage.session(runtime, place);
      await session.send(textOf(this.#stage.plot, { answers: [] }), { messageId, whenBusy: 'supersede' });
    });
  }

  async #mustBeRefused(session: Session, executionId: string, saying: Saying): Promise<void> {
    if (!(await this.#say(session, executionId, saying))) return;
    throw new Error(`${saying.does} was taken of ${executionId}, and must not have been`);
  }

  /** Whether it was taken. Everybody has another name. */
  async #say(session: Session, executionId: string, saying: Saying): Promise<boolean> {
    const { does, n = null, by = this.#nextName() } = saying;
    const said = this.#stage.ledger.say({ executionId, does, by, n });
    try {
      await commit(session, executionId, { ...saying, by });
      this.#stage.ledger.answered(said, true);
      return true;
    } catch (error) {
      if (!isTurnlockError(error) || !MAY_BE_TOLD.includes(error.code)) throw error;
      this.#stage.ledger.answered(said, false);
      return false;
    }
  }

  #nextName(): string {
    this.#names += 1;
    return `person ${this.#names}`;
  }
}

/** Resolves once it is committed. */
async function commit(session: Session, executionId: string, saying: Saying & { by: string }): Promise<unknown> {
  const { does, n, digest, by } = saying;
  const seen = digest === undefined ? {} : { digest };
  switch (does) {
    case 'grant':
      return session.approve(executionId, { by, ...seen, ...(n === undefined ? {} : { params: { n } }) });
    case 'deny':
      return session.deny(executionId, { by, ...seen, reason: 'no' });
    case 'succeeded':
      return session.settle(executionId, { outcome: 'succeeded', output: 'by hand', by });
    case 'failed':
      return session.settle(executionId, { outcome: 'failed', reason: 'it did not happen', by });
    case 'runAgain':
      return session.settle(executionId, { outcome: 'runAgain', by });
  }
}
