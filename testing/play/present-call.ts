import { AsyncLocalStorage } from 'node:async_hooks';

/** Which call the running code belongs to: a place in a tool does not say. */
export interface PresentCall {
  sessionId: string;
  executionId: string;
}

export const presentCall = new AsyncLocalStorage<PresentCall>();
