import { isTurnlockError, type TurnlockError } from '../../errors.ts';
import { toTurnlockError } from '../../persistence/sqlstate.ts';
import { SeededChance } from '../clock/seeded-chance.ts';
import { PROMISE_NAMES } from '../invariants/promise-names.ts';
import type { MessageCommand } from '../plan/plan.ts';
import type { KitProcess } from './process.ts';
import type { Stage } from './stage.ts';

/** A message that was sent, or is to be sent again until somebody has taken it. */
export interface Sent {
  command: MessageCommand;
  text: string;
  messageId: string;
  /** Counts all that clients send and hear, so that of two things can be said which was first. */
  sentAt: number;
  /** When a client first heard that it is taken; `null`: nobody has said so yet. */
  takenAt: number | null;
  /** Of the run that it begins, as the client was first told. */
  runId: string | null;
  /** Whether the session was over. */
  isRefused: boolean;
  /** Of one by SQL: where its session stood once it was there. */
  cameAt: { sessionId: string; version: number; runId: string | null } | null;
}

const ENQUEUE = `SELECT enqueued_run_id AS run_id
  FROM turnlock.enqueue(tenant_id => $1, session_id => $2::uuid, message_id => $3, content => $4, when_busy => $5, run_id => $6::uuid)`;

const STANDS = `SELECT version, snapshot->'context'->>'runId' AS run_id FROM turnlock.agent_sessions WHERE session_id = $1`;

/** Apart from the ids of the processes. */
const OWN_SEED = 7_919_000;

/** What a client that sends again must not hear: that it cannot be. */
const REFUSALS: readonly TurnlockError['category'][] = ['conflict', 'state'];

/** Who writes to sessions: each message has an id, under which it is sent again. */
export class Client<World> {
  readonly #stage: Stage<World>;
  readonly #chance: SeededChance;
  #count = 0;

  constructor(stage: Stage<World>) {
    this.#stage = stage;
    this.#chance = new SeededChance(stage.plan.ids + OWN_SEED);
  }

  /** Sends a new message. Resolves once nothing goes on by itself, but for what is to be overtaken. */
  async write(command: MessageCommand): Promise<void> {
    const place = this.#stage.sent.length + 1;
    const sent: Sent = {
      ...{ command, text: `message ${place}`, messageId: `m${place}` },
      ...{ sentAt: this.#next(), takenAt: null, runId: null, isRefused: false, cameAt: null },
    };
    this.#stage.sent.push(sent);
    this.#send(await this.#stage.living(command.process), sent);
    // What comes past every process is there before anybody goes on.
    if (command.isBySql || command.isOvertaken) await this.#stage.quiet(true);
    if (!command.isOvertaken) await this.#stage.quiet();
  }

  /** Sends one of the last messages again, with its id. */
  async writeAgain(ago: number): Promise<void> {
    const sent = this.#stage.sent.at(-ago);
    if (sent === undefined) return;
    this.#send(await this.#stage.living(1), sent);
    await this.#stage.quiet();
  }

  /** Sends again whatever nobody has taken. Whether there was anything that is not taken now. */
  async writeLost(): Promise<boolean> {
    const isLost = ({ takenAt, isRefused }: Sent) => takenAt === null && !isRefused;
    const lost = this.#stage.sent.filter(isLost);
    for (const sent of lost) {
      this.#send(await this.#stage.newest(), sent);
      await this.#stage.quiet();
    }
    return lost.some(isLost);
  }

  #send(process: KitProcess, sent: Sent): void {
    const send = sent.command.isBySql ? this.#enqueue : this.#sendBy;
    this.#stage.attempt(process, sent.text, () => send.call(this, process, sent));
  }

  async #sendBy(process: KitProcess, sent: Sent): Promise<void> {
    const { command, text, messageId } = sent;
    const wasTaken = sent.takenAt !== null;
    const session = await this.#stage.session(process, command.session);
    const options = { messageId, ...(command.whenBusy === undefined ? {} : { whenBusy: command.whenBusy }) };
    try {
      const { runId } = await session.send(text, options).catch(async (error: unknown) => {
        // A session whose last run failed takes no message before somebody has looked after it.
        if (!isTurnlockError(error, 'EVENT_ILLEGAL')) throw error;
        await session.retry({ by: 'operator' });
        return session.send(text, options);
      });
      if (sent.runId !== null && sent.runId !== runId) this.#breaks(`${text} was answered with another run`);
      this.#taken(sent, runId);
    } catch (error) {
      sent.isRefused ||= isTurnlockError(error, 'SESSION_COMPLETED');
      if (wasTaken && process.isLiving && isTurnlockError(error) && REFUSALS.includes(error.category)) {
        this.#breaks(`${text} was taken, and is refused now: ${error.code}`);
      }
      throw error;
    }
  }

  async #enqueue(process: KitProcess, sent: Sent): Promise<void> {
    const { database } = this.#stage;
    const { command, text, messageId } = sent;
    const { tenantId, sessionId } = await this.#stage.session(process, command.session);
    const values = [tenantId, sessionId, messageId, text, command.whenBusy ?? 'enqueue', this.#chance.uuid()];
    const [row] = await database.query(ENQUEUE, values).catch((error: unknown) => {
      sent.isRefused ||= isTurnlockError(toTurnlockError(error), 'SESSION_COMPLETED');
      throw toTurnlockError(error);
    });
    this.#taken(sent, row.run_id);
    const [stands] = await database.query(STANDS, [sessionId]);
    sent.cameAt ??= { sessionId, version: stands.version, runId: stands.run_id };
  }

  #taken(sent: Sent, runId: string): void {
    sent.runId ??= runId;
    sent.takenAt ??= this.#next();
  }

  #breaks(message: string): void {
    this.#stage.broken.note(PROMISE_NAMES.resent, message);
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }
}
