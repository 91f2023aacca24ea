import { TurnlockError } from '../../../errors.ts';
import type { RunResult } from '../../../runtime/run-event.ts';
import type { Session } from '../../../runtime/session-handle.ts';
import { type Exchange, exchangesOf } from './exchanges.ts';
import { REHEARSAL_AGENT } from './rehearsal-setup.ts';
import type { RehearsedSessions } from './rehearsed-sessions.ts';
import type { Transcript } from './transcript.ts';

/**
 * Speaks the recorded user's part of one conversation, from where an earlier process came to. Everything is named by ids that the next
 * process makes the same way (the session by the recording's, each message by its number), so nothing is done twice, whenever this one
 * is killed.
 *
 * The last message that stands in the history is sent once more: it is known, so its run is followed to its end, and taken over where
 * its worker is dead.
 *
 * @throws MODEL_FAILED, TOOL_FAILED and the like when a run does not come to rest as recorded.
 */
export async function driveTranscript(sessions: RehearsedSessions, transcript: Transcript): Promise<void> {
  const { tenantId, runtime } = sessions;
  const session = await runtime.createSession({
    agent: REHEARSAL_AGENT,
    tenantId,
    userId: 'recorded-user',
    externalId: transcript.id,
  });
  const spoken = (await session.history()).filter(({ role }) => role === 'user').length;
  for (const [index, exchange] of exchangesOf(transcript).entries()) {
    if (index >= spoken - 1) await speak(sessions, session, exchange, index);
  }
}

async function speak(
  sessions: RehearsedSessions,
  session: Session,
  { text, isAnswered }: Exchange,
  index: number,
): Promise<void> {
  const run = await session.send(text, { messageId: `message-${index}` });
  if (!isAnswered) {
    await Promise.race([run.result(), sessions.silent(session.sessionId, index + 1)]);
    await session.cancel({ by: 'rehearsal', reason: 'The recording ends here.' });
  }
  checkRest(await run.result(), isAnswered, index);
}

function checkRest({ state, error, sessionId }: RunResult, isAnswered: boolean, index: number): void {
  const wasCancelled = error?.code === 'RUN_CANCELLED';
  if (state === 'IDLE' && wasCancelled === !isAnswered) return;
  const found = error === null ? state : `${state}, ${error.code}: ${error.message}`;
  throw new TurnlockError('INVARIANT_BROKEN', {
    message: `run did not rest as recorded: message ${index + 1} of session ${sessionId} (found ${found}, wanted ${isAnswered ? 'IDLE' : 'a cancelled run'})`,
  });
}
