/*
 * The end of a process that another one started. `process.send` and `disconnect` are Node's own, of a process made by `fork`: whoever started
 * this one is heard of no more also where it was killed, so nothing is left running.
 */

/** Milliseconds in which a process has to come to its end. */
const END_MS = 20_000;

/** Tells the parent that this process does its work, and where. */
export function sayReady(message: { url?: string } = {}): void {
  process.send?.({ isReady: true, ...message }, undefined, undefined, () => undefined); // it may have died meanwhile
}

/**
 * Once the parent lets go of this process, or has died, `close` is called with what was opened, and the process ends. Call it first: also
 * what is still being opened then is closed.
 */
export function endWithParent<Opened>(opening: Promise<Opened>, close: (opened: Opened) => Promise<unknown>): void {
  process.on('SIGINT', () => undefined); // a terminal sends Ctrl-C to every process; the parent says what ends when
  let isEnding = false;
  const end = async () => {
    if (isEnding) return;
    isEnding = true;
    setTimeout(() => process.exit(1), END_MS).unref();
    await opening.then(close).catch((error: unknown) => console.error(String(error)));
    process.exit();
  };
  process.once('disconnect', end);
  process.once('SIGTERM', end);
}
