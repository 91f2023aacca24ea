import { type DeltaChannel, inProcessDeltas } from '../../../index.ts';

/** The channel within a process, which knows how many subscriptions it holds. */
export function countedDeltas(): { channel: DeltaChannel; held(): number } {
  const inner = inProcessDeltas();
  let held = 0;
  const channel: DeltaChannel = {
    publish: (topic, message) => inner.publish(topic, message),
    subscribe(topic, listener) {
      const leave = inner.subscribe(topic, listener) as () => void;
      held += 1;
      return () => {
        held -= 1;
        leave();
      };
    },
  };
  return { channel, held: () => held };
}
