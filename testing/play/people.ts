import { isTurnlockError, TurnlockError } from '../../errors.ts';
import type { Session } from '../../runtime/session-handle.ts';
import type { DecideCommand } from '../plan/plan.ts';
import type { Truth } from '../subject.ts';
import type { KitProcess } from './process.ts';
import { shown } from './shown.ts';
import type { Stage } from './stage.ts';

/** A call about which somebody is asked. */
interface Asked {
  executionId: string;
  sessionNumber: number;
  kind: 'approval' | 'answer' | 'unknown';
  question: string | null;
  toolName: string;
  params: unknown;
  idempotencyKey: string;
}

const ASKED = `SELECT a.execution_id, s.external_id, a.kind, a.question, e.tool_name, e.idempotency_key,
    COALESCE(e.upgraded_parameters, e.input_parameters) AS params
  FROM turnlock.agent_approvals a JOIN turnlock.agent_tool_executions e USING (execution_id)
  JOIN turnlock.agent_sessions s ON s.session_id = a.session_id
  WHERE a.decision IS NULL ORDER BY s.external_id, a.requested_at, e.ordinal, a.execution_id`;

/** Asked about a call that equals an earlier one. Who looks finds that it is done, or may be, and says no. */
const IS_REPEAT = /\bthe same call\b/i;

/** Codes by which the runtime refuses an output: it would refuse the same one each time. */
const UNFIT: readonly string[] = ['VALUE_INVALID', 'VALUE_TOO_LARGE', 'OUTCOME_INVALID'];

/** People who are asked, and decide by any process that lives. */
export class People<World> {
  readonly #stage: Stage<World>;
  #names = 0;
  /** What `people.settle` gave that is no output of the call. */
  #unfit: TurnlockError | null = null;

  constructor(stage: Stage<World>) {
    this.#stage = stage;
  }

  /**
   * Somebody decides about one of the calls that wait, as `command` says. Resolves once nothing goes on by itself.
   *
   * @throws OPTIONS_INVALID where `people.settle` gave an output that the runtime does not take.
   */
  async decide({ which, does, how }: DecideCommand): Promise<void> {
    const waiting = await this.#waiting();
    const asked = waiting[(which - 1) % Math.max(1, waiting.length)];
    if (asked === undefined) return;
    const first = await this.#stage.living(1);
    const second = this.#stage.alive.at(-1) ?? first;
    await this.#say(first, asked, does);
    if (how === 'twice') await this.#say(second, asked, does);
    if (how === 'contradicted') await this.#say(second, asked, does === 'approve' ? 'deny' : 'approve');
    await this.#rest();
  }

  /** Everything that waits is decided, truthfully. Whether there was anything to decide. @throws as {@link decide}. */
  async decideAll(): Promise<boolean> {
    const waiting = (await this.#waiting()).filter((asked) => this.#canBeDecided(asked));
    for (const asked of waiting) {
      // What did not happen is left at that: whoever has it run again may be asked for ever.
      await this.#say(await this.#stage.newest(), asked, asked.kind === 'unknown' ? 'deny' : 'approve');
      await this.#rest();
    }
    return waiting.length > 0;
  }

  async #rest(): Promise<void> {
    await this.#stage.quiet();
    if (this.#unfit !== null) throw this.#unfit;
  }

  async #waiting(): Promise<Asked[]> {
    const rows = await this.#stage.database.query(ASKED);
    return rows.map((row) => ({
      executionId: row.execution_id,
      sessionNumber: Number(row.external_id),
      kind: row.kind,
      question: row.question,
      toolName: row.tool_name,
      params: row.params,
      idempotencyKey: row.idempotency_key,
    }));
  }

  /** Of an unknown outcome only those say something who can look at the world. */
  #canBeDecided({ kind }: Asked): boolean {
    return kind === 'approval' || (kind === 'unknown' && this.#stage.subject.people?.settle !== undefined);
  }

  async #say(process: KitProcess, asked: Asked, does: DecideCommand['does']): Promise<void> {
    if (!this.#canBeDecided(asked)) return;
    const by = this.#nextName();
    const truth = asked.kind === 'unknown' ? await this.#lookAt(asked) : null;
    const says = asked.kind === 'approval' && IS_REPEAT.test(asked.question ?? '') ? 'deny' : does;
    this.#stage.timeline.note(null, () => `${by} ${describe(asked, says, truth)}`);
    this.#stage.attempt(process, `the decision of ${by}`, () => this.#commit(process, asked, { by, says, truth }));
  }

  async #commit(
    process: KitProcess,
    asked: Asked,
    { by, says, truth }: { by: string; says: DecideCommand['does']; truth: Truth | null },
  ): Promise<void> {
    const { calls } = this.#stage;
    const { executionId } = asked;
    const session = await this.#stage.session(process, asked.sessionNumber);
    if (truth?.outcome === 'succeeded') {
      await this.#succeeded(session, asked, { by, output: truth.output });
    } else if (truth !== null && says === 'approve') {
      calls.sentAgain(executionId);
      await session.settle(executionId, { outcome: 'runAgain', by });
    } else if (truth !== null) {
      await session.settle(executionId, { outcome: 'failed', reason: 'It did not happen.', by });
    } else if (says === 'approve') {
      await session.approve(executionId, { by });
    } else {
      await session.deny(executionId, { by, reason: 'No.' });
      calls.denied(executionId);
    }
  }

  async #succeeded(
    session: Session,
    { executionId, toolName }: Asked,
    { by, output }: { by: string; output: unknown },
  ): Promise<void> {
    try {
      await session.settle(executionId, { outcome: 'succeeded', output, by });
    } catch (error) {
      if (isTurnlockError(error) && UNFIT.includes(error.code)) {
        this.#unfit ??= new TurnlockError('OPTIONS_INVALID', {
          message: `option not accepted: people.settle of checkToolPolicy, asked about a call of ${toolName}: ${error.message}`,
          cause: error,
        });
      }
      throw error;
    }
  }

  async #lookAt({ toolName, params, idempotencyKey }: Asked): Promise<Truth | null> {
    const { subject, world } = this.#stage;
    return (await subject.people?.settle?.(world, { toolName, params, idempotencyKey })) ?? null;
  }

  #nextName(): string {
    this.#names += 1;
    return `person ${this.#names}`;
  }
}

function describe({ toolName, params }: Asked, says: DecideCommand['does'], truth: Truth | null): string {
  const call = `${toolName}(${shown(params)})`;
  if (truth === null) return `${says === 'approve' ? 'approves' : 'denies'} ${call}`;
  if (truth.outcome === 'succeeded') return `looks, and settles ${call} as succeeded`;
  return says === 'approve' ? `looks, and has ${call} run again` : `looks, and settles ${call} as failed`;
}
