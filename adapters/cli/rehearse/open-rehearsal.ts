import { createRuntime } from '../../../runtime/create-runtime.ts';
import { defineAgent } from '../../../runtime/define-agent.ts';
import { chooseDatabase } from '../choose-database.ts';
import { readTranscripts } from './read-transcripts.ts';
import { recordedModel } from './recorded-model.ts';
import { recordedTools } from './recorded-tools.ts';
import { REHEARSAL_AGENT, REHEARSAL_LIMITS, type RehearsalSetup } from './rehearsal-setup.ts';
import { RehearsedSessions } from './rehearsed-sessions.ts';
import type { Transcript } from './transcript.ts';

/** A runtime whose agent repeats recordings. */
export interface OpenRehearsal {
  transcripts: Transcript[];
  sessions: RehearsedSessions;
  close(): Promise<void>;
}

/** Opens the database, brings its schema up to date, and makes the runtime. */
export async function openRehearsal(setup: Omit<RehearsalSetup, 'parallel'>): Promise<OpenRehearsal> {
  const transcripts = await readTranscripts(setup.source);
  const sessions = new RehearsedSessions(setup.tenantId, transcripts);
  const agent = defineAgent({
    name: REHEARSAL_AGENT,
    model: recordedModel(sessions),
    instructions: transcripts[0]?.instructions ?? '',
    tools: recordedTools({ sessions, transcripts, port: setup.port }),
  });
  const runtime = await createRuntime({
    database: chooseDatabase(setup.database, { mustExist: false }),
    agents: [agent],
    migrate: 'auto',
    limits: REHEARSAL_LIMITS,
    onWarning: () => undefined,
  });
  sessions.attach(runtime);
  return { transcripts, sessions, close: () => runtime.close() };
}
