import { TurnlockError } from '../../../errors.ts';
import type { Settlement } from '../../../runtime/check-settlement.ts';
import { type ModelChoice, modelText } from '../models/choose-model.ts';
import type { SessionRecord } from '../session-record.ts';
import { entriesOfOrder, type LedgerEntry, ofKind, readLedger } from './ledger.ts';
import type { AskPerson, Play, Verdict } from './play.ts';
import { complaint, type Scenario } from './scenario.ts';
import type { NumberedWorker, Stage } from './stage.ts';
import type { Story } from './story.ts';

/** Milliseconds that the payments service takes to answer after it booked: long enough to be killed in. */
const ANSWER_DELAY_MS = 5_000;

/** Who settled, as the session's audit will say. */
const PERSON = 'person at the demo';

/**
 * Plays one scenario: a customer complains, the agent refunds, its worker is killed when the refund is booked and its answer has not
 * come, the next worker recovers, and a person is asked where the tool's declaration says so.
 */
export async function playScenario(
  stage: Stage,
  scenario: Scenario,
  story: Story,
  askPerson: AskPerson,
): Promise<Play> {
  const orderId = stage.nextOrder();
  const first = await stage.worker();
  story.begins(scenario, complaint(orderId));
  const scene = watch(stage, story);
  await stage.payments.ask('delayNextAnswer', { ms: ANSWER_DELAY_MS });
  const serving = first.process.ask('serve', { agent: scenario.agent, message: complaint(orderId) });
  const { sessionId } = await Promise.race([scene.refundIsOut, failure(serving, stage.setup.model)]);

  const killedAt = new Date().toISOString();
  const gone = stage.killWorker();
  story.killed(first);
  await gone;
  const ledgerAtKill = entriesOfOrder(await readLedger(stage.ledgerFile), orderId);

  const next = await stage.worker();
  story.recovers(next);
  let record = await next.process.ask('recover', { sessionId, seen: scene.seen() });
  const verdict = await settleByPerson(stage, story, { next, record, askPerson, orderId, seen: scene.seen });
  if (verdict !== null) record = verdict.record;
  stage.audience = null;
  return {
    scenario,
    isScripted: stage.setup.model.provider === 'scripted',
    orderId,
    sessionId,
    workers: [first.number, next.number],
    killedAt,
    ledgerAtKill,
    verdict: verdict?.verdict ?? null,
    record,
    ledger: entriesOfOrder(await readLedger(stage.ledgerFile), orderId),
  };
}

interface Scene {
  /** Resolves when the refund is booked, and its start is known to be committed. */
  refundIsOut: Promise<{ sessionId: string }>;
  /** Sequence of the last transition that was told. */
  seen(): number;
}

function watch(stage: Stage, story: Story): Scene {
  const started = Promise.withResolvers<{ sessionId: string }>();
  const booked = Promise.withResolvers<void>();
  let seen = 0;
  stage.audience = {
    committed(worker, sessionId, transition) {
      seen = transition.sequence;
      story.committed(worker, transition);
      if (transition.started.includes('refund')) started.resolve({ sessionId });
    },
    wrote(entry) {
      story.wrote(entry);
      if (entry.kind === 'refundBooked') booked.resolve();
    },
  };
  return { refundIsOut: booked.promise.then(() => started.promise), seen: () => seen };
}

/** Rejects when the worker comes to rest by itself; it does not resolve, since the worker is to be killed. */
async function failure(serving: Promise<SessionRecord>, model: ModelChoice): Promise<never> {
  const { overview, turns, transitions } = await serving;
  const { sessionId, state } = overview;
  if (model.provider === 'scripted') {
    throw new TurnlockError('INVARIANT_BROKEN', {
      message: `session came to rest before its worker was killed: ${sessionId} (found ${state})`,
    });
  }
  const code = transitions.at(-1)?.event?.code;
  const said = turns.findLast(({ role }) => role === 'assistant')?.content;
  throw new TurnlockError('MODEL_FAILED', {
    message:
      state === 'FAILED'
        ? `the model could not be asked: ${modelText(model)} (found ${code}, wanted an answer)`
        : `the model did not ask for the refund, so there was nothing to kill: ${modelText(model)} (found ${JSON.stringify(said)})`,
    hint: 'Nothing is claimed of this play. Play again, with another --model, or with --model scripted.',
  });
}

interface Unsettled {
  next: NumberedWorker;
  record: SessionRecord;
  askPerson: AskPerson;
  orderId: string;
  seen: () => number;
}

async function settleByPerson(
  stage: Stage,
  story: Story,
  { next, record, askPerson, orderId, seen }: Unsettled,
): Promise<{ verdict: Verdict; record: SessionRecord } | null> {
  const [waiting] = record.overview.waiting;
  const execution = record.executions.find(({ executionId }) => executionId === waiting?.executionId);
  if (execution === undefined) return null;
  const { executionId, idempotencyKey: key } = execution;
  story.waits(execution);
  const ledger = entriesOfOrder(await readLedger(stage.ledgerFile), orderId);
  const verdict = await askPerson({ executionId, key, ledger });
  story.settled(verdict);
  const settlement = toSettlement(verdict, key, ledger);
  const { sessionId } = record.overview;
  return { verdict, record: await next.process.ask('settle', { sessionId, seen: seen(), executionId, settlement }) };
}

function toSettlement(verdict: Verdict, key: string, ledger: LedgerEntry[]): Settlement {
  const booked = ofKind(ledger, 'refundBooked').find((entry) => entry.key === key);
  switch (verdict) {
    case 'succeeded':
      return {
        outcome: 'succeeded',
        by: PERSON,
        output: booked ? { refundId: booked.refundId, cents: booked.cents } : null,
      };
    case 'failed':
      return { outcome: 'failed', by: PERSON, reason: 'A person found that the refund was not made.' };
    default:
      return { outcome: 'runAgain', by: PERSON };
  }
}
