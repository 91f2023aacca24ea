/** What `reconcile` found out about an attempt of which nothing says how it ended. Made by {@link done}, {@link notDone}, {@link cannotTell}. */
export type Reconciliation<Output = unknown> =
  | { readonly type: 'done'; readonly output: Output }
  | { readonly type: 'notDone' }
  | { readonly type: 'cannotTell'; readonly reason: string | null };

/** The act happened: the call has succeeded, and `output` is what the tool would have returned. */
export function done<Output>(output: Output): Reconciliation<Output>;
export function done(): Reconciliation<undefined>;
export function done(output?: unknown): Reconciliation {
  return { type: 'done', output };
}

/** The act did not happen: the call runs again with the same key, or has failed where its attempts are used up. */
export function notDone(): Reconciliation<never> {
  return { type: 'notDone' };
}

/** Nobody can tell: a person is asked, who is told `reason`. */
export function cannotTell(reason?: string): Reconciliation<never> {
  return { type: 'cannotTell', reason: reason ?? null };
}

/** Whether `answer` is one of them, also one of another copy of the package. */
export function isReconciliation(answer: unknown): answer is Reconciliation {
  if (typeof answer !== 'object' || answer === null) return false;
  return ['done', 'notDone', 'cannotTell'].includes((answer as { type: string }).type);
}
