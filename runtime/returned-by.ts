/** What a tool returned, in a box: what it returned may be something that cannot be awaited. */
export interface Returned {
  value: unknown;
}

/**
 * Waits for what `execute` returned, where it is a promise. Whatever else it is, the tool has returned: also an object that throws when it
 * is asked whether it is a promise. (Of an `async` function the language itself asks; there it is a throw like any other.)
 *
 * @throws what the promise rejects with.
 */
export async function returnedBy(returned: unknown): Promise<Returned> {
  return { value: isThenable(returned) ? await returned : returned };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  try {
    return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
  } catch {
    return false;
  }
}
