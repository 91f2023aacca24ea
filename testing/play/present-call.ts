import { AsyncLocalStorage } from 'node:async_hooks';
import type { FaultInfo } from '../../environment.ts';

/** Which call the running code belongs to, and whether it is part of a commit: a place in a tool does not say. */
export const presentCall = new AsyncLocalStorage<FaultInfo>();
