import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { lockKey } from '../persistence/keys/lock-key.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import type { RoundTrip } from './counted-pool.ts';

/** A statement, and the literals that were taken out of it as parameters. */
interface Statement {
  text: string;
  values: string[];
}

/** What was sent for the first run of a session, commit by commit. */
export interface RecordedRun {
  readonly sessionId: string;
  readonly commits: Statement[][];
}

const LITERAL = /'((?:[^']|'')*)'/g;
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const KEY = /^tl1_[0-9a-f]{64}$/;

/**
 * Makes hand-written SQL of what the unit of work sent: the same statements, with parameters, as somebody would write them who knows all
 * values in advance. So the two stay the same when the tables change.
 */
export function recordRun(sessionId: string, trips: readonly RoundTrip[]): RecordedRun {
  const commits: Statement[][] = [[]];
  for (const { text, commands } of trips) {
    commits.at(-1)?.push(text.startsWith('begin') ? { text, values: [] } : parameterised(text));
    if (commands.includes('COMMIT')) commits.push([]);
  }
  return { sessionId, commits: commits.slice(0, -1) };
}

function parameterised(text: string): Statement {
  const values: string[] = [];
  const replaced = text.replace(LITERAL, (_, literal: string) => `$${values.push(literal.replaceAll("''", "'"))}`);
  return { text: replaced, values };
}

/** Sends a recorded run for another new session, with ids of its own, one statement after the other. Answers the milliseconds of each commit. */
export async function replayRun(client: pg.ClientBase, run: RecordedRun, { sessionId }: SessionKey): Promise<number[]> {
  const ids = new Map([[run.sessionId, sessionId]]);
  const newId = (id: string): string => {
    ids.set(id, ids.get(id) ?? randomUUID());
    return ids.get(id) as string;
  };
  const fresh = (value: string) =>
    KEY.test(value) ? `tl1_${randomBytes(32).toString('hex')}` : value.replace(ID, newId);
  const commits = run.commits.map((statements) =>
    statements.map(({ text, values }) => ({
      text: text.replace(lockKey(run.sessionId), lockKey(sessionId)),
      values: values.map(fresh),
    })),
  );
  const times: number[] = [];
  for (const statements of commits) {
    const startedAt = performance.now();
    for (const { text, values } of statements)
      await (values.length > 0 ? client.query(text, values) : client.query(text));
    times.push(performance.now() - startedAt);
  }
  return times;
}
