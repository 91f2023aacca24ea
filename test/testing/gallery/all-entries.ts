import { approvalOfTheSum } from './correct/approval-of-the-sum.ts';
import { busyBeforeTheAct } from './correct/busy-before-the-act.ts';
import { closedByAPerson } from './correct/closed-by-a-person.ts';
import { dayOfTheBooks } from './correct/day-of-the-books.ts';
import { fencedByToken } from './correct/fenced-by-token.ts';
import { idempotentByKey } from './correct/idempotent-by-key.ts';
import { limitHeldByTheReceiver } from './correct/limit-held-by-the-receiver.ts';
import { oncePerOrder } from './correct/once-per-order.ts';
import { oneRefundPerOrderAtTheBank } from './correct/one-refund-per-order-at-the-bank.ts';
import { pureInItsParams } from './correct/pure-in-its-params.ts';
import { reconciledByReference } from './correct/reconciled-by-reference.ts';
import { sumOfTheOrder } from './correct/sum-of-the-order.ts';
import { transferInOneStep } from './correct/transfer-in-one-step.ts';
import { upgradeKeepsEverything } from './correct/upgrade-keeps-everything.ts';
import { actsThenValidates } from './faulty/acts-then-validates.ts';
import { approvalByAmount } from './faulty/approval-by-amount.ts';
import { balanceOfAnHourAgo } from './faulty/balance-of-an-hour-ago.ts';
import { believesTheModel } from './faulty/believes-the-model.ts';
import { cachedBalance } from './faulty/cached-balance.ts';
import { checkThenAct } from './faulty/check-then-act.ts';
import { currentUserInAVariable } from './faulty/current-user-in-a-variable.ts';
import { dayOfTheOffice } from './faulty/day-of-the-office.ts';
import { dedupeInMemory } from './faulty/dedupe-in-memory.ts';
import { halfATransfer } from './faulty/half-a-transfer.ts';
import { idempotentWithoutAKey } from './faulty/idempotent-without-a-key.ts';
import { keyFreedByATimeOut } from './faulty/key-freed-by-a-time-out.ts';
import { keyOfTheSession } from './faulty/key-of-the-session.ts';
import { keyWithTheAttempt } from './faulty/key-with-the-attempt.ts';
import { keyWithTheToken } from './faulty/key-with-the-token.ts';
import { keyWithoutTheTenant } from './faulty/key-without-the-tenant.ts';
import { lateWriter } from './faulty/late-writer.ts';
import { limitInMemory } from './faulty/limit-in-memory.ts';
import { limitPerCall } from './faulty/limit-per-call.ts';
import { lookedAndNotClosed } from './faulty/looked-and-not-closed.ts';
import { lostUpdate } from './faulty/lost-update.ts';
import { markedAfterTheAct } from './faulty/marked-after-the-act.ts';
import { markedBeforeTheAct } from './faulty/marked-before-the-act.ts';
import { notAwaited } from './faulty/not-awaited.ts';
import { oncePerSession } from './faulty/once-per-session.ts';
import { onceWithTheAmount } from './faulty/once-with-the-amount.ts';
import { reconcileBeforeTheBatch } from './faulty/reconcile-before-the-batch.ts';
import { reconcileByOrder } from './faulty/reconcile-by-order.ts';
import { reconcileOnAReplica } from './faulty/reconcile-on-a-replica.ts';
import { reconcileWithoutAFence } from './faulty/reconcile-without-a-fence.ts';
import { requestIdOfItsOwn } from './faulty/request-id-of-its-own.ts';
import { retriesByItself } from './faulty/retries-by-itself.ts';
import { retryableAfterTheAct } from './faulty/retryable-after-the-act.ts';
import { sumWithoutAReservation } from './faulty/sum-without-a-reservation.ts';
import { timeOutIsFailure } from './faulty/time-out-is-failure.ts';
import { upgradeLosesAField } from './faulty/upgrade-loses-a-field.ts';
import { verifiedForEverybody } from './faulty/verified-for-everybody.ts';
import type { GalleryEntry } from './gallery-entry.ts';

/** Tools and policies with one mistake each: the kit finds it. */
const faulty: readonly GalleryEntry[] = [
  actsThenValidates,
  approvalByAmount,
  balanceOfAnHourAgo,
  believesTheModel,
  cachedBalance,
  checkThenAct,
  currentUserInAVariable,
  dayOfTheOffice,
  dedupeInMemory,
  halfATransfer,
  idempotentWithoutAKey,
  keyFreedByATimeOut,
  keyOfTheSession,
  keyWithTheAttempt,
  keyWithTheToken,
  keyWithoutTheTenant,
  lateWriter,
  limitInMemory,
  limitPerCall,
  lookedAndNotClosed,
  lostUpdate,
  markedAfterTheAct,
  markedBeforeTheAct,
  notAwaited,
  oncePerSession,
  onceWithTheAmount,
  reconcileBeforeTheBatch,
  reconcileByOrder,
  reconcileOnAReplica,
  reconcileWithoutAFence,
  requestIdOfItsOwn,
  retriesByItself,
  retryableAfterTheAct,
  sumWithoutAReservation,
  timeOutIsFailure,
  upgradeLosesAField,
  verifiedForEverybody,
];

/** Tools and policies that look much alike and are right: the kit finds nothing. */
const correct: readonly GalleryEntry[] = [
  approvalOfTheSum,
  busyBeforeTheAct,
  closedByAPerson,
  dayOfTheBooks,
  fencedByToken,
  idempotentByKey,
  limitHeldByTheReceiver,
  oncePerOrder,
  oneRefundPerOrderAtTheBank,
  pureInItsParams,
  reconciledByReference,
  sumOfTheOrder,
  transferInOneStep,
  upgradeKeepsEverything,
];

/** The whole gallery. What is right has no `mistake`. */
export const allEntries: readonly GalleryEntry[] = [...faulty, ...correct];
