import type { DeltaChannel, DeltaMessage, DeltaTopic } from '../../../index.ts';
import type { ChannelEnds } from './delta-channel-suite.ts';

type Listener = (message: DeltaMessage) => void;

/** A channel between two processes, as a broker makes one: what is published travels as a text, arrives later, and subscribing takes time. */
export function carriedDeltas(): ChannelEnds {
  const subscribers = new Map<string, Set<Listener>>();
  let road: Promise<void> = Promise.resolve();
  const later = (act: () => void): Promise<void> => {
    road = road.then(act);
    return road;
  };
  const end: DeltaChannel = {
    publish(topic, message) {
      const carried = JSON.stringify(message);
      return later(() => {
        for (const listener of [...(subscribers.get(keyOf(topic)) ?? [])]) listener(JSON.parse(carried));
      });
    },
    async subscribe(topic, listener) {
      const own: Listener = (message) => listener(message);
      await later(() => void subscribers.set(keyOf(topic), (subscribers.get(keyOf(topic)) ?? new Set()).add(own)));
      return async () => {
        subscribers.get(keyOf(topic))?.delete(own);
        if (subscribers.get(keyOf(topic))?.size === 0) subscribers.delete(keyOf(topic));
      };
    },
  };
  const carried = async (): Promise<void> => {
    for (let seen: Promise<void> | null = null; seen !== road; ) {
      seen = road;
      await seen;
      await new Promise((resolve) => setImmediate(resolve)); // what was waiting for it publishes
    }
  };
  return { here: end, there: { ...end }, carried, held: () => subscribers.size };
}

function keyOf({ tenantId, sessionId }: DeltaTopic): string {
  return JSON.stringify([tenantId, sessionId]);
}
