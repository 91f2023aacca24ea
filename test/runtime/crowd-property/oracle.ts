import { expect } from 'vitest';
import type { Run, StoredTurn, WhenBusy } from '../../../index.ts';
import { waitFor } from '../../support/wait-for.ts';
import { checkSession } from '../crash-property/facts-of.ts';
import type { Scene } from './crowd.ts';
import type { Way } from './step.ts';

/** One message, as its sender knows it. */
export interface Letter {
  id: string | null;
  text: string;
  way: Way;
  whenBusy: WhenBusy;
  /** Moments in the order of the senders: before it was sent, and once it was durable; `null` where it never was. */
  begunAt: number;
  ackedAt: number | null;
  runId: string | null;
  run?: Run;
  /** The code with which it was not taken. */
  refused?: string;
}

interface UserTurn {
  text: string;
  runId: string | null;
}

interface InboxRow {
  run_id: string;
  rejected_code: string;
}

/** What holds of a session that several processes wrote to, whatever they did. Knows sets, orders and counts, and no machine. */
export async function checkCrowd(scene: Scene): Promise<void> {
  const { database, handles, letters } = scene;
  const session = handles[0]!;
  await checkSession(database, session);
  const histories = await Promise.all(handles.map((handle) => handle.history()));
  for (const history of histories) expect(history).toEqual(histories[0]);
  const turns = histories[0]!
    .filter(({ role }) => role === 'user')
    .map(({ content, runId }): UserTurn => ({ text: content ?? '', runId }));
  const rejected: InboxRow[] = await database.query(
    'SELECT run_id, rejected_code FROM turnlock.agent_inbox WHERE session_id = $1',
    [session.sessionId],
  );
  checkLetters(letters, turns, new Map(rejected.map((row) => [row.run_id, row.rejected_code])));
  checkOrder(letters, turns);
  await checkActs(scene, session.sessionId, histories[0]!);
  await checkResults(scene, turns);
}

/** Every message that was acknowledged is in the history once, or its sender can be told why not; nothing else is in it. */
function checkLetters(letters: readonly Letter[], turns: readonly UserTurn[], rejected: Map<string, string>): void {
  for (const { text } of turns) {
    expect(
      letters.filter((letter) => letter.text === text && letter.refused === undefined && letter.way !== 'rolledBack'),
    ).not.toEqual([]);
  }
  expect(new Set(turns.map(({ text }) => (JSON.parse(text) as { from: string }).from)).size).toBe(turns.length);
  for (const letter of letters.filter(({ ackedAt }) => ackedAt !== null)) {
    const code = rejected.get(letter.runId!);
    const place = turns.filter(({ text }) => text === letter.text);
    if (code === undefined || code === 'MESSAGE_REPEATED') expect([letter, place.length]).toEqual([letter, 1]);
    if (code === undefined) expect(place[0]!.runId).toBe(letter.runId);
    else expect(mayBeRejected(letter, letters)).toContain(code);
  }
}

function mayBeRejected({ id, way, whenBusy }: Letter, letters: readonly Letter[]): string[] {
  const sameId = letters.filter((letter) => id !== null && letter.id === id);
  return [
    'SESSION_COMPLETED',
    ...(way === 'handle' || whenBusy !== 'reject' ? [] : ['SESSION_BUSY']),
    ...(sameId.length > 1 ? ['MESSAGE_REPEATED', 'MESSAGE_CONFLICT'] : []),
    // A repeat is answered with what the first one came to.
    ...(sameId.some((letter) => letter.way !== 'handle' && letter.whenBusy === 'reject') ? ['SESSION_BUSY'] : []),
  ];
}

/** What was sent once another message was durable comes after it, unless it interrupts. */
function checkOrder(letters: readonly Letter[], turns: readonly UserTurn[]): void {
  const places = new Map(turns.map(({ runId }, place) => [runId, place]));
  const firsts = new Map<string, Letter>();
  for (const letter of letters) {
    if (letter.ackedAt === null || !places.has(letter.runId)) continue;
    const first = firsts.get(letter.runId!);
    if (first === undefined || first.ackedAt! > letter.ackedAt) firsts.set(letter.runId!, letter);
  }
  for (const earlier of firsts.values()) {
    for (const later of firsts.values()) {
      // A repeat may have been durable before the one that was answered first was begun.
      if (earlier.id !== null || later.id !== null || later.whenBusy === 'interrupt') continue;
      if (later.begunAt < earlier.ackedAt!) continue;
      expect(places.get(earlier.runId!)).toBeLessThan(places.get(later.runId!)!);
    }
  }
}

/** Nothing delicate was done twice unasked, and what a tool returned is known. */
async function checkActs({ world, database }: Scene, sessionId: string, history: readonly StoredTurn[]): Promise<void> {
  for (const executionId of world.delicate) {
    expect(world.acts.get(executionId)).toBeLessThanOrEqual(1 + (world.again.get(executionId) ?? 0));
  }
  const executions = await database.query(
    'SELECT execution_id, status, settled_by FROM turnlock.agent_tool_executions WHERE session_id = $1',
    [sessionId],
  );
  for (const { execution_id, status, settled_by } of executions) {
    if (status === 'SUCCESS' && settled_by === null) expect(world.acts.get(execution_id)).toBeGreaterThan(0);
    if (!world.returned.has(execution_id) || status === 'SUCCESS' || settled_by !== null) continue;
    // A later attempt was given up; what the earlier one returned is told all the same.
    expect(history.some(({ content }) => content?.includes(`{"acted":"${execution_id}"}`))).toBe(true);
  }
}

/** Whoever waits for a run is told how it ended. */
async function checkResults({ letters }: Scene, turns: readonly UserTurn[]): Promise<void> {
  let told = 0;
  const runs = letters.flatMap(({ run }) => (run === undefined ? [] : [run]));
  const results = runs.map(async (run) => {
    const result = await run.result();
    told += 1;
    return result;
  });
  for (const result of results) result.catch(() => undefined);
  await waitFor(() => told === runs.length, { for: 'every sender to be told', timeoutMs: 10_000 });
  for (const { runId, queued, state, error } of await Promise.all(results)) {
    // It is told at once that its message waits for a person, or for a retry.
    if (queued) expect(['AWAITING_INPUT', 'FAILED']).toContain(state);
    else if (!turns.some((turn) => turn.runId === runId)) expect(error).not.toBeNull();
  }
}
