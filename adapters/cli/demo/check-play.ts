import type { ExecutionRow } from '../../../persistence/row-changes.ts';
import { formatMoney } from './format-money.ts';
import { ofKind } from './ledger.ts';
import type { Play } from './play.ts';

/** A claim of the demonstration, and whether it held. */
export interface Check {
  holds: boolean;
  text: string;
}

/** What the demonstration claims about one play, checked against the ledger file of the payments service and against the tables. */
export function checkPlay(play: Play): Check[] {
  return [
    diedInBetween(play),
    ...(play.scenario.effect === 'idempotent' ? wasRepeated(play) : wasAsked(play)),
    ...cameToItsEnd(play),
  ];
}

/** When the worker died, the refund stood in the ledger once, its answer was not given, and the tables knew of no outcome. */
function diedInBetween(play: Play): Check {
  const {
    ledger,
    ledgerAtKill,
    killedAt,
    record,
    workers: [killed],
  } = play;
  const [booked, ...more] = ofKind(ledgerAtKill, 'refundBooked');
  const lost = ofKind(ledger, 'answerLost');
  const isBooked = booked !== undefined && more.length === 0 && booked.at <= killedAt;
  const isUnanswered = lost.length === 1 && lost.every(({ at }) => at >= killedAt);
  const refund = refundOf(play);
  const takenOverAt = record.transitions.find(({ type }) => type === 'worker.tookOver')?.createdAt;
  const isOpen = refund?.completedAt != null && takenOverAt !== undefined && refund.completedAt >= takenOverAt;
  return {
    holds: isBooked && isUnanswered && isOpen,
    text: `worker ${killed} died after the refund was booked and before its answer came`,
  };
}

function wasRepeated(play: Play): Check[] {
  const {
    ledger,
    workers: [, next],
  } = play;
  const keys = new Set(ofKind(ledger, 'refundRequested').map(({ key }) => key));
  const refund = refundOf(play);
  return [
    {
      holds: refund?.attempt === 2 && keys.size === 1 && keys.has(refund.idempotencyKey),
      text: `worker ${next} asked again by itself, with the same idempotency key`,
    },
    worldSaw(ledger, 2),
  ];
}

function wasAsked(play: Play): Check[] {
  const { record, ledger, verdict } = play;
  const refund = refundOf(play);
  const asked = record.transitions.filter(({ type, to }) => type === 'tool.outcomeUnknown' && to === 'AWAITING_INPUT');
  const isRepeated = verdict === 'runAgain';
  return [
    {
      holds: asked.length === 1 && refund?.attempt === (isRepeated ? 2 : 1),
      text: isRepeated
        ? 'nothing was repeated before a person said so'
        : 'nothing was repeated: the outcome was unknown, so a person was asked',
    },
    {
      holds: record.transitions.some(({ type, cause }) => type === 'execution.settledByPerson' && cause === 'operator'),
      text: `a person settled it, and the audit says who`,
    },
    worldSaw(ledger, isRepeated ? 2 : 1),
  ];
}

function worldSaw(ledger: Play['ledger'], wanted: number): Check {
  const requests = ofKind(ledger, 'refundRequested');
  const refunds = ofKind(ledger, 'refundBooked');
  const sum = refunds.reduce((total, { cents }) => total + cents, 0);
  return {
    holds: requests.length === wanted && refunds.length === 1 && sum === requests[0]?.cents,
    text: `the outside world saw ${wanted} request${wanted === 1 ? '' : 's'} and booked 1 refund, ${formatMoney(sum)}`,
  };
}

/** The agent could finish what it began: its history is whole, and nothing of it happened twice. A real model need not tell the customer. */
function cameToItsEnd({ record, ledger, verdict, isScripted }: Play): Check[] {
  const { overview, turns, executions } = record;
  const isAnswered = executions.every(({ executionId }) =>
    turns.some((turn) => turn.role === 'tool' && turn.executionId === executionId),
  );
  const count = ofKind(ledger, 'customerTold').length;
  const told = isScripted ? (verdict === 'failed' ? 0 : 1) : Math.min(count, 1);
  return [
    {
      holds: overview.state === 'IDLE' && isAnswered && turns.at(-1)?.role === 'assistant' && count === told,
      text: `the session came to rest with every call answered${told === 1 ? ', and the customer was told once' : ''}`,
    },
  ];
}

/** The call whose refund was booked when the worker was killed. */
function refundOf({ record, ledgerAtKill }: Play): ExecutionRow | undefined {
  const [booked] = ofKind(ledgerAtKill, 'refundBooked');
  return record.executions.find(({ idempotencyKey }) => idempotencyKey === booked?.key);
}
