import { createRuntime, type Runtime, type Session } from '../../../index.ts';
import { atTestEnd } from '../../support/at-test-end.ts';
import { spawnChild } from '../../support/child.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { PaymentsService } from '../../support/world/start-payments.ts';
import { checkSession } from '../crash-property/facts-of.ts';
import { agentsOf, outputOf } from './agents.ts';
import { describeEnd } from './describe-end.ts';
import { endingOf } from './ending-of.ts';
import { type KillTask, paymentsStage } from './kill-task.ts';
import { loseTime } from './lose-time.ts';
import { EFFECTS, type Effect, type Place } from './places.ts';

/** Where processes are killed, and who sees it from outside. */
export interface KillScene {
  database: RuntimeDatabase;
  payments: PaymentsService;
}

/**
 * Lets a process drive one session of each class to the place, kills it there, and says how each session ended that another one went on
 * with. `orders` are used nowhere else.
 */
export async function killAt(
  { database, payments }: KillScene,
  place: Place,
  orders: KillTask['orders'],
): Promise<Record<Effect, string>> {
  const task: KillTask = { database: database.url, payments: payments.url, place, orders };
  const child = spawnChild('test/runtime/faults/killed.child.ts', { args: [JSON.stringify(task)] });
  for (const _ of EFFECTS) await child.next('stopped');
  await child.kill();
  const writes = child.messages.filter(({ type }) => type === 'wrote').length;
  const { healing, seen } = await openHealing(database, payments);
  const ends: [Effect, string][] = [];
  for (const effect of EFFECTS) {
    const order = orders[effect];
    const session = await healing.session({ tenantId: 'tenant', externalId: order });
    await loseTime(database, session.sessionId);
    const asked = await bringToRest(healing, session, () => payments.booked(order).length > 0, order);
    await checkSession(database, session);
    const { acts, requests } = actsOf(payments, effect, order);
    const outside = {
      acts,
      writes: effect === 'transactional' ? writes + seen.writes : 0,
      answers: effect === 'reconcilable' ? seen.answers : [],
    };
    ends.push([effect, describeEnd(await endingOf(database, session, order), { outside, asked }, requests)]);
  }
  return Object.fromEntries(ends) as Record<Effect, string>;
}

/** A runtime of another process, and what its tools did that no ledger tells. */
async function openHealing(database: RuntimeDatabase, payments: PaymentsService) {
  const seen = { writes: 0, answers: [] as ('done' | 'not done')[] };
  const stage = paymentsStage(payments.url, {
    noteAnswer: () => undefined,
    async acted(effect) {
      if (effect === 'transactional') seen.writes += 1;
    },
  });
  const agents = agentsOf({
    ...stage,
    async hasActed(cell, context) {
      const hasActed = await stage.hasActed(cell, context);
      seen.answers.push(hasActed ? 'done' : 'not done');
      return hasActed;
    },
  });
  const limits = { graceMs: 0, reconcileBackoffMs: 0 };
  const healing = await createRuntime({ database: database.adapter(), agents, limits, onWarning: () => undefined });
  atTestEnd(() => healing.close());
  return { healing, seen };
}

/** Sweeps until the session rests. A person who is asked looks into the books and says what is true. @returns what was said. */
async function bringToRest(healing: Runtime, session: Session, isDone: () => boolean, order: string) {
  const said: string[] = [];
  for (;;) {
    const { awaiting } = await waitFor(
      async () => {
        await healing.recover();
        const status = await session.status();
        return (status.state === 'IDLE' || status.state === 'AWAITING_INPUT') && status;
      },
      { for: `the session of order ${order} to rest` },
    );
    const [asked] = awaiting;
    if (asked === undefined) return said;
    said.push(isDone() ? 'done' : 'not done');
    const settled = await session.settle(
      asked.executionId,
      isDone()
        ? { outcome: 'succeeded', output: outputOf(order), by: 'person' }
        : { outcome: 'runAgain', by: 'person' },
    );
    await settled.result();
  }
}

/** What the ledger of the payments service says of an order: the keys of what it did, and how often a refund was asked for. */
function actsOf(payments: PaymentsService, effect: Effect, order: string): { acts: string[]; requests: number } {
  const requests = payments.entriesOf(order).filter(({ type }) => type === 'asked').length;
  if (effect !== 'readOnly') return { acts: payments.booked(order).map(({ key }) => String(key)), requests };
  const question = `/refunds?orderId=${order}&key=`;
  const paths = payments.ledger().flatMap((entry) => (entry.type === 'looked' ? entry.path : []));
  return { acts: paths.filter((path) => path.startsWith(question)), requests };
}
