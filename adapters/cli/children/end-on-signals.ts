import { constants } from 'node:os';

/**
 * From now on Ctrl-C, and a request to end, end this process by `process.exit`, so that what was registered for its end happens: its
 * children are killed and its temporary folders removed. The exit status says which signal it was, as shells do.
 */
export function endOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => process.exit(128 + constants.signals[signal])); // stays: a second one must not end the cleaning up
  }
}
