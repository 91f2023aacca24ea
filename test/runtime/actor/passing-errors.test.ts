import { expect, test } from 'vitest';
import { createActor, waitFor } from 'xstate';
import { systemEnvironment } from '../../../environment.ts';
import { TurnlockError } from '../../../errors.ts';
import { LIMITS } from '../../../limits.ts';
import { LiveSessions } from '../../../runtime/live-sessions.ts';
import { Operations } from '../../../runtime/operations.ts';
import type { Services } from '../../../runtime/services.ts';
import { type ActedSession, sessionLogic } from '../../../runtime/session-actor.ts';
import { inProcessDeltas } from '../../../runtime/working-state/in-process-deltas.ts';
import { usedChannel } from '../../../runtime/working-state/used-channel.ts';

test('an actor whose database cannot be reached for a while asks again, and is done when the run of its message is', async () => {
  const services = {
    store: { environment: { ...systemEnvironment, sleep: async () => undefined } },
    live: new LiveSessions(
      usedChannel(inProcessDeltas(), () => undefined),
      LIMITS,
    ),
    operations: new Operations(),
    closing: new AbortController().signal,
  } as unknown as Services;
  let asked = 0;
  const session = {
    tenantId: 'tenant',
    sessionId: 'session',
    status: async () => ({ state: 'COMPLETED', version: 4, runId: 'run', awaiting: [] }),
    send: async () => {
      asked += 1;
      if (asked < 3) throw new TurnlockError('DATABASE_UNREACHABLE', { message: 'gone' });
      return { result: async () => ({ state: 'IDLE', queued: false, awaiting: [], error: null, reply: 'done' }) };
    },
  } as unknown as ActedSession;
  const logic = sessionLogic(services, async () => session);
  const actor = createActor(logic, { input: { message: { text: 'go', messageId: 'one' } } });
  actor.subscribe({ error: () => undefined });
  actor.start();
  const last = await waitFor(actor, ({ status }) => status !== 'active');
  expect(last).toMatchObject({ status: 'done', output: { reply: 'done' } });
  expect(asked).toBe(3);
});
