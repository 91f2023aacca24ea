import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { childModule } from '../children/child-module.ts';
import { type Child, startChild } from '../children/start-child.ts';
import { temporaryFolder } from '../children/temporary-folder.ts';
import { recordedActs } from './act.ts';
import { compareActs } from './compare-acts.ts';
import { planKills } from './kill-plan.ts';
import { readHistories } from './read-histories.ts';
import { readTranscripts, type TranscriptSource } from './read-transcripts.ts';
import type { WorldMethods, WorldNotices } from './recorded-world.child.ts';
import { judge, type RehearsalReport } from './rehearsal-report.ts';
import type { RehearsalSetup } from './rehearsal-setup.ts';
import { countCalls } from './transcript.ts';
import { WorkerLine } from './worker-line.ts';

/** What a rehearsal is made from. */
export interface RehearseOptions {
  source: TranscriptSource;
  /** A PostgreSQL URL or the directory of an embedded database. Absent: an embedded one in a temporary folder. */
  database?: string;
  seed: number;
  /** One kill for so many tool calls on average; `null`: none. */
  killEvery: number | null;
  /** Conversations under way at the same time. */
  parallel: number;
  /** Milliseconds that a tool takes. */
  toolMs: number;
  /** Then the rehearsal ends as it is. */
  maxSeconds: number;
  /** Called when the recordings have been read and found good, before anything runs. */
  onBegin?: () => void;
  onProgress?: (progress: RehearsalProgress) => void;
}

/** How far a rehearsal has come. */
export interface RehearsalProgress {
  calls: number;
  recordedCalls: number;
  sessions: number;
  recordedSessions: number;
  kills: number;
}

/**
 * Repeats recorded conversations through the real runtime while its worker is killed again and again, and compares what stands in the
 * tables afterwards, and what the outside world saw, with the recordings.
 *
 * Three kinds of process: this one kills and compares; one is the outside world; the workers hold the runtime, one at a time.
 *
 * @throws TRANSCRIPT_INVALID before anything runs.
 */
export async function rehearse(options: RehearseOptions): Promise<RehearsalReport> {
  const transcripts = await readTranscripts(options.source);
  options.onBegin?.();
  const startedAt = performance.now();
  const folder = await temporaryFolder('rehearse');
  const world: Child<WorldMethods, WorldNotices> = startChild(childModule(import.meta.url, 'recorded-world.child'));
  const { source, toolMs, parallel, seed, killEvery } = options;
  const database = options.database ?? join(folder.path, 'database');
  try {
    const { port } = await world.ask('open', { source, toolMs });
    const setup: RehearsalSetup = { source, database, tenantId: `rehearsal-${randomUUID()}`, port, parallel };
    const line = new WorkerLine({
      world,
      setup,
      codeCache: join(folder.path, 'code'),
      planKill: killEvery === null ? null : planKills({ seed, killEvery, toolMs }),
      maxMs: options.maxSeconds * 1_000,
      onProgress: (progress) =>
        options.onProgress?.({
          ...progress,
          recordedCalls: countCalls(transcripts),
          recordedSessions: transcripts.length,
        }),
    });
    const { finished, kills, failures } = await line.run();
    const seen = await world.ask('seen');
    const { differences, equal } = await readHistories(setup);
    return judge({
      finished,
      seed,
      database: /^postgres(ql)?:/.test(database) ? 'postgres' : 'pglite',
      sessions: { recorded: transcripts.length, equal },
      turns: { recorded: transcripts.reduce((sum, { turns }) => sum + turns.length, 0) },
      toolCalls: {
        recorded: countCalls(transcripts),
        acts: seen.reduce((sum, { distinctKeys }) => sum + distinctKeys, 0),
        invocations: seen.reduce((sum, { invocations }) => sum + invocations, 0),
      },
      kills,
      seconds: Math.round((performance.now() - startedAt) / 100) / 10,
      differences,
      actDifferences: compareActs(recordedActs(transcripts), seen),
      failures,
    });
  } finally {
    await world.kill();
    await folder.remove();
  }
}
