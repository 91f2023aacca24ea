import { normaliseError } from '../../persistence/values/normalise-error.ts';
import type { RuntimeWarning } from '../signals.ts';
import type { DeltaChannel } from './delta-channel.contract.ts';

/** A channel as a runtime uses it. */
export interface UsedChannel {
  channel: DeltaChannel;
  /** Told of each thing that goes wrong with it: nothing depends on it. */
  onFailed(error: unknown): void;
}

/** `channel`, whose first failure is a warning. */
export function usedChannel(channel: DeltaChannel, warn: (warning: RuntimeWarning) => void): UsedChannel {
  let isTold = false;
  return {
    channel,
    onFailed(error) {
      if (isTold) return;
      isTold = true;
      const message = `deltas failed: readers miss pieces of answers, and nothing else: ${normaliseError(error).message}`;
      warn({ code: 'DELTAS_FAILED', message });
    },
  };
}
