import { setTimeout as wait } from 'node:timers/promises';
import { isTurnlockError } from '../../../errors.ts';
import { linkToParent } from '../children/parent-link.ts';
import { driveTranscript } from './drive-transcript.ts';
import { type OpenRehearsal, openRehearsal } from './open-rehearsal.ts';
import type { RehearsalSetup } from './rehearsal-setup.ts';
import type { Transcript } from './transcript.ts';

/** A conversation that could not be driven to its end. */
export interface DriveFailure {
  transcriptId: string;
  code: string;
  message: string;
}

/** What a worker of a rehearsal can be asked. */
export type WorkerMethods = {
  /** Resolves when every conversation but those in `done` is at its end. */
  drive(question: { setup: RehearsalSetup; done: string[] }): Promise<null>;
};

/** What it tells: a conversation is at its end. */
export type WorkerNotices = { done: { transcriptId: string; failure: DriveFailure | null } };

/** How often a conversation is tried again after an error that says that this may help. */
const MAX_TRIES = 5;

/** Milliseconds before that. */
const RETRY_MS = 200;

const parent = linkToParent<WorkerNotices>({
  async drive({ setup, done }: Parameters<WorkerMethods['drive']>[0]) {
    const rehearsal = await openRehearsal(setup);
    const recovering = rehearsal.sessions.runtime.recover();
    const left = rehearsal.transcripts.filter(({ id }) => !done.includes(id)).values();
    await Promise.all(Array.from({ length: setup.parallel }, () => driveNext(rehearsal, left)));
    await recovering;
    await rehearsal.close();
    return null;
  },
});

async function driveNext(rehearsal: OpenRehearsal, left: IteratorObject<Transcript>): Promise<void> {
  for (const transcript of left) {
    const failure = await tryToDrive(rehearsal, transcript);
    await parent.tell('done', { transcriptId: transcript.id, failure });
  }
}

async function tryToDrive({ sessions }: OpenRehearsal, transcript: Transcript): Promise<DriveFailure | null> {
  for (let tries = 1; ; tries += 1) {
    try {
      await driveTranscript(sessions, transcript);
      return null;
    } catch (error) {
      if (!isTurnlockError(error)) throw error;
      const { code, message } = error;
      if (!error.retryable || tries === MAX_TRIES) return { transcriptId: transcript.id, code, message };
      await wait(RETRY_MS);
    }
  }
}
