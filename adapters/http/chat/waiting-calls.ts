import type { Awaiting } from '../../../persistence/list-awaiting.ts';
import type { Asked, Opened } from '../asked.ts';
import { decides } from '../decider.ts';

/** What a person is asked about a call, and whether whoever looks may answer. */
export interface WaitingCall extends Awaiting {
  isMine: boolean;
}

/** What people are asked in a chat at this moment. */
export async function waitingCalls(asked: Asked, { session, status }: Opened): Promise<WaitingCall[]> {
  const { tenantId, sessionId } = session;
  const { runtime, settings, identity, request } = asked;
  const awaiting = await runtime.awaiting({ tenantId, sessionId, limit: 1000 });
  if (awaiting.length === 0) return [];
  const isAllowed = await settings.authorize(identity, 'decide', request);
  return awaiting.map((one) => ({ ...one, isMine: isAllowed && decides(asked, one.approvers, status.userId) }));
}
