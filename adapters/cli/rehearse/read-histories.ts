import { isTurnlockError } from '../../../errors.ts';
import { compareHistory, type Difference } from './compare-history.ts';
import { openRehearsal } from './open-rehearsal.ts';
import type { RehearsalSetup } from './rehearsal-setup.ts';
import type { RehearsedSessions } from './rehearsed-sessions.ts';
import type { Transcript } from './transcript.ts';

/** Reads every session of a rehearsal back from the tables and compares it with its recording. */
export async function readHistories(setup: RehearsalSetup): Promise<{ differences: Difference[]; equal: number }> {
  const { transcripts, sessions, close } = await openRehearsal(setup);
  try {
    const differences: Difference[] = [];
    let equal = 0;
    for (const transcript of transcripts) {
      const found = await compareOne(sessions, transcript);
      differences.push(...found);
      if (found.length === 0) equal += 1;
    }
    return { differences, equal };
  } finally {
    await close();
  }
}

async function compareOne({ runtime, tenantId }: RehearsedSessions, transcript: Transcript): Promise<Difference[]> {
  try {
    const session = await runtime.session({ tenantId, externalId: transcript.id });
    const { state } = await session.status();
    const differences = compareHistory(transcript, await session.history());
    if (state === 'IDLE') return differences;
    return [
      ...differences,
      { transcriptId: transcript.id, turn: transcript.turns.length, what: 'state', recorded: 'IDLE', found: state },
    ];
  } catch (error) {
    if (!isTurnlockError(error, 'SESSION_NOT_FOUND')) throw error;
    return [{ transcriptId: transcript.id, turn: 0, what: 'session', recorded: 'one', found: 'none' }];
  }
}
