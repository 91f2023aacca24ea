/**
 * Takes note of what a function of the caller's returned where nothing is waited for: where it is a promise, of whatever realm, or a thenable,
 * what it comes to must not end the process.
 */
export function forgetPromise(returned: unknown): void {
  (async () => returned)().catch(() => undefined);
}
