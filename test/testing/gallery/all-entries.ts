import { approvalOfTheSum } from './correct/approval-of-the-sum.ts';
import { busyBeforeTheAct } from './correct/busy-before-the-act.ts';
import { cartAsItWasShown } from './correct/cart-as-it-was-shown.ts';
import { closedByAPerson } from './correct/closed-by-a-person.ts';
import { dayOfTheBooks } from './correct/day-of-the-books.ts';
import { fencedByToken } from './correct/fenced-by-token.ts';
import { idempotentByKey } from './correct/idempotent-by-key.ts';
import { keyOfEachOrder } from './correct/key-of-each-order.ts';
import { limitHeldByTheReceiver } from './correct/limit-held-by-the-receiver.ts';
import { lockWithANumber } from './correct/lock-with-a-number.ts';
import { oncePerOrder } from './correct/once-per-order.ts';
import { oneRefundPerOrderAtTheBank } from './correct/one-refund-per-order-at-the-bank.ts';
import { pureInItsParams } from './correct/pure-in-its-params.ts';
import { reconciledByReference } from './correct/reconciled-by-reference.ts';
import { sumOfTheOrder } from './correct/sum-of-the-order.ts';
import { transferInOneStep } from './correct/transfer-in-one-step.ts';
import { undoByKey } from './correct/undo-by-key.ts';
import { upgradeKeepsEverything } from './correct/upgrade-keeps-everything.ts';
import { actsThenValidates } from './faulty/acts-then-validates.ts';
import { approvalByAmount } from './faulty/approval-by-amount.ts';
import { approvedOnceForAll } from './faulty/approved-once-for-all.ts';
import { balanceOfAnHourAgo } from './faulty/balance-of-an-hour-ago.ts';
import { believesTheModel } from './faulty/believes-the-model.ts';
import { cachedBalance } from './faulty/cached-balance.ts';
import { cartOfALaterTime } from './faulty/cart-of-a-later-time.ts';
import { checkThenAct } from './faulty/check-then-act.ts';
import { currentUserInAVariable } from './faulty/current-user-in-a-variable.ts';
import { dayOfTheOffice } from './faulty/day-of-the-office.ts';
import { dedupeInMemory } from './faulty/dedupe-in-memory.ts';
import { errorAsAResult } from './faulty/error-as-a-result.ts';
import { halfATransfer } from './faulty/half-a-transfer.ts';
import { idempotentWithoutAKey } from './faulty/idempotent-without-a-key.ts';
import { keyByPlaceInTheList } from './faulty/key-by-place-in-the-list.ts';
import { keyForgottenAfterADay } from './faulty/key-forgotten-after-a-day.ts';
import { keyFreedByATimeOut } from './faulty/key-freed-by-a-time-out.ts';
import { keyOfTheSession } from './faulty/key-of-the-session.ts';
import { keyWithTheAttempt } from './faulty/key-with-the-attempt.ts';
import { keyWithTheToken } from './faulty/key-with-the-token.ts';
import { keyWithoutTheTenant } from './faulty/key-without-the-tenant.ts';
import { lateWriter } from './faulty/late-writer.ts';
import { limitInMemory } from './faulty/limit-in-memory.ts';
import { limitPerCall } from './faulty/limit-per-call.ts';
import { lockThatRunsOut } from './faulty/lock-that-runs-out.ts';
import { lookedAndNotClosed } from './faulty/looked-and-not-closed.ts';
import { lostUpdate } from './faulty/lost-update.ts';
import { markedAfterTheAct } from './faulty/marked-after-the-act.ts';
import { markedBeforeTheAct } from './faulty/marked-before-the-act.ts';
import { notAwaited } from './faulty/not-awaited.ts';
import { oncePerSession } from './faulty/once-per-session.ts';
import { onceWithTheAmount } from './faulty/once-with-the-amount.ts';
import { priceOfAnHourAgo } from './faulty/price-of-an-hour-ago.ts';
import { reconcileBeforeTheBatch } from './faulty/reconcile-before-the-batch.ts';
import { reconcileByOrder } from './faulty/reconcile-by-order.ts';
import { reconcileOnAReplica } from './faulty/reconcile-on-a-replica.ts';
import { reconcileWithoutAFence } from './faulty/reconcile-without-a-fence.ts';
import { repeatableForHarmless } from './faulty/repeatable-for-harmless.ts';
import { requestIdOfItsOwn } from './faulty/request-id-of-its-own.ts';
import { reservationForNothing } from './faulty/reservation-for-nothing.ts';
import { retriesByItself } from './faulty/retries-by-itself.ts';
import { retryableAfterTheAct } from './faulty/retryable-after-the-act.ts';
import { sumWithoutAReservation } from './faulty/sum-without-a-reservation.ts';
import { timeOutIsFailure } from './faulty/time-out-is-failure.ts';
import { undoWithoutAKey } from './faulty/undo-without-a-key.ts';
import { upgradeLosesAField } from './faulty/upgrade-loses-a-field.ts';
import { verifiedForEverybody } from './faulty/verified-for-everybody.ts';
import type { GalleryEntry } from './gallery-entry.ts';

/** Tools and policies with one mistake each: the kit finds it. */
const faulty: readonly GalleryEntry[] = [
  actsThenValidates,
  approvalByAmount,
  approvedOnceForAll,
  balanceOfAnHourAgo,
  believesTheModel,
  cachedBalance,
  cartOfALaterTime,
  checkThenAct,
  currentUserInAVariable,
  dayOfTheOffice,
  dedupeInMemory,
  errorAsAResult,
  halfATransfer,
  idempotentWithoutAKey,
  keyByPlaceInTheList,
  keyForgottenAfterADay,
  keyFreedByATimeOut,
  keyOfTheSession,
  keyWithTheAttempt,
  keyWithTheToken,
  keyWithoutTheTenant,
  lateWriter,
  limitInMemory,
  limitPerCall,
  lockThatRunsOut,
  lookedAndNotClosed,
  lostUpdate,
  markedAfterTheAct,
  markedBeforeTheAct,
  notAwaited,
  oncePerSession,
  onceWithTheAmount,
  priceOfAnHourAgo,
  reconcileBeforeTheBatch,
  reconcileByOrder,
  reconcileOnAReplica,
  reconcileWithoutAFence,
  repeatableForHarmless,
  requestIdOfItsOwn,
  reservationForNothing,
  retriesByItself,
  retryableAfterTheAct,
  sumWithoutAReservation,
  timeOutIsFailure,
  undoWithoutAKey,
  upgradeLosesAField,
  verifiedForEverybody,
];

/** Tools and policies that look much alike and are right: the kit finds nothing. */
const correct: readonly GalleryEntry[] = [
  approvalOfTheSum,
  busyBeforeTheAct,
  cartAsItWasShown,
  closedByAPerson,
  dayOfTheBooks,
  fencedByToken,
  idempotentByKey,
  keyOfEachOrder,
  limitHeldByTheReceiver,
  lockWithANumber,
  oncePerOrder,
  oneRefundPerOrderAtTheBank,
  pureInItsParams,
  reconciledByReference,
  sumOfTheOrder,
  transferInOneStep,
  undoByKey,
  upgradeKeepsEverything,
];

/** The whole gallery. What is right has no `mistake`. */
export const allEntries: readonly GalleryEntry[] = [...faulty, ...correct];
