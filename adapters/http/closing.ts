const closings = new WeakMap<Request, AbortSignal>();

/** Tells whoever answers the request when its server closes: what only waits then need not be waited for. */
export function closesBy(request: Request, closing: AbortSignal): void {
  closings.set(request, closing);
}

/** Aborted once the server of the request closes; `null` for one that came by another server than `serve`. */
export function closingOf(request: Request): AbortSignal | null {
  return closings.get(request) ?? null;
}
