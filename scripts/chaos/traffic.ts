import { setTimeout as sleep } from 'node:timers/promises';
import type { SeededRandom } from '../../adapters/cli/rehearse/seeded-random.ts';
import { isTurnlockError, type WhenBusy } from '../../index.ts';
import type { Crew } from './crew.ts';
import type { World } from './world.ts';

/** A message whose sender was told that it is durable. */
export interface Acknowledged {
  sessionId: string;
  text: string;
  whenBusy: WhenBusy;
}

/** Milliseconds that a sender waits for an answer before it asks somebody else, under the same id. */
const PATIENCE_MS = 3_000;

/** Codes by which a message was refused, and nothing was written. */
const REFUSALS = ['SESSION_BUSY', 'EVENT_ILLEGAL', 'LIMIT_WAITING_MESSAGES'] as const;

/** Sends messages until `until` aborts: one after the other in each session, several sessions at once. */
export class Traffic {
  readonly acknowledged: Acknowledged[] = [];
  refused = 0;
  cancels = 0;
  #count = 0;

  async run(world: World, crew: Crew, random: SeededRandom, until: AbortSignal): Promise<void> {
    const free = new Set(world.sessionIds);
    const senders = Array.from({ length: 16 }, async () => {
      while (!until.aborted) {
        const sessionId = random.pick([...free]);
        free.delete(sessionId);
        if (random.chance(0.04)) await this.#cancel(crew, random, sessionId);
        else await this.#send(world, crew, random, sessionId, until);
        free.add(sessionId);
        await sleep(random.int(50, 400));
      }
    });
    await Promise.all(senders);
  }

  async #cancel(crew: Crew, random: SeededRandom, sessionId: string): Promise<void> {
    const asked = crew.pick(random.next())?.ask('cancel', { sessionId });
    await Promise.race([
      asked?.then(() => {
        this.cancels += 1;
      }),
      sleep(PATIENCE_MS),
    ]).catch(() => undefined);
  }

  async #send(world: World, crew: Crew, random: SeededRandom, sessionId: string, until: AbortSignal): Promise<void> {
    this.#count += 1;
    const messageId = `m${this.#count}`;
    const text = `${callsOf(random, this.#count)} #${messageId}`;
    const whenBusy = random.pick(['enqueue', 'enqueue', 'enqueue', 'enqueue', 'interrupt', 'reject'] as const);
    const bySql = whenBusy === 'enqueue' && random.chance(0.35);
    const send = bySql
      ? () => world.query('SELECT turnlock.enqueue($1, $2, $3, $4)', ['chaos', sessionId, messageId, text])
      : () => crew.pick(random.next())?.ask('send', { sessionId, text, messageId, whenBusy });
    // The same id until somebody says that it is durable, or refuses it: that is what an id is for.
    while (!until.aborted) {
      try {
        const answer = await Promise.race([send(), sleep(PATIENCE_MS, null)]);
        if (answer !== null && answer !== undefined) return void this.acknowledged.push({ sessionId, text, whenBusy });
      } catch (error) {
        if (REFUSALS.some((code) => isTurnlockError(error, code))) {
          this.refused += 1;
          return;
        }
      }
      await sleep(100);
    }
  }
}

function callsOf(random: SeededRandom, n: number): string {
  if (random.chance(0.15)) return 'say';
  const calls = Array.from(
    { length: random.int(1, 3) },
    (_, place) => `${random.pick(['note', 'charge'])} ${n * 10 + place}`,
  );
  return calls.join(', ');
}
