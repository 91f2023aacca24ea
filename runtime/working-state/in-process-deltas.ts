import type { DeltaChannel, DeltaMessage } from './delta-channel.contract.ts';

type Listener = (message: DeltaMessage) => void;

/**
 * A channel for pieces of answers within this process: at once, without copies, and holding nothing. Each runtime has one of its own unless it
 * is given another; runtimes of one process that are given the same one show each other's.
 *
 * @example
 * const deltas = inProcessDeltas();
 * const worker = await createRuntime({ database: postgres('postgres://localhost/app'), agents: [support], deltas });
 * const web = await createRuntime({ database: postgres('postgres://localhost/app'), agents: [support], deltas, drive: false });
 */
export function inProcessDeltas(): DeltaChannel {
  const listeners = new Map<string, Set<Listener>>();
  return {
    publish({ tenantId, sessionId }, message) {
      for (const listener of [...(listeners.get(keyOf(tenantId, sessionId)) ?? [])]) listener(message);
    },
    subscribe({ tenantId, sessionId }, listener) {
      const key = keyOf(tenantId, sessionId);
      const own = (message: DeltaMessage) => listener(message); // the same function may subscribe twice
      listeners.set(key, (listeners.get(key) ?? new Set()).add(own));
      return () => {
        const left = listeners.get(key);
        left?.delete(own);
        if (left?.size === 0) listeners.delete(key);
      };
    },
  };
}

/** A session id has no space. */
function keyOf(tenantId: string, sessionId: string): string {
  return `${sessionId} ${tenantId}`;
}
