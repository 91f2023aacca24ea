import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Agent, Session } from '../../../index.ts';
import { spawnChild } from '../../support/child.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession } from '../../support/runtime-open.ts';
import type { Child } from '../../support/start-child.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';
import { EXPIRES_IN_MS, type RaceTask, raceAgent } from './race-agent.ts';
import type { RaceMove } from './racer.child.ts';

/** How often each race is run. */
const ROUNDS = 4;

/** Milliseconds from the order to the start, so that both processes have heard it. */
const HEAD_START_MS = 60;

onPostgres((database) => {
  let agent: Agent;
  let ledger: string;
  let racers: Child[];

  beforeAll(async () => {
    ledger = join(await temporaryFolder('turnlock-races-'), 'ledger');
    writeFileSync(ledger, '');
    const task: RaceTask = { url: database().url, ledger, name: 'racing' };
    agent = raceAgent(task);
    racers = [0, 1].map(() => spawnChild('test/runtime/races/racer.child.ts', { args: [JSON.stringify(task)] }));
    await Promise.all(racers.map((racer) => racer.next('ready')));
  });

  const acts = ({ sessionId }: Session) =>
    readFileSync(ledger, 'utf8')
      .split('\n')
      .filter((id) => id === sessionId).length;
  const rounds = async ({ sessionId }: Session) =>
    (await database().query('SELECT decision FROM turnlock.agent_approvals WHERE session_id = $1', [sessionId])).map(
      ({ decision }) => decision,
    );

  /** A session that asks a person, and what became of the two moves that were made about it at once. */
  async function race(first: RaceMove['action'], second: RaceMove['action'], message = 'refund', inMs = HEAD_START_MS) {
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const { awaiting } = await (await session.send(message)).result();
    const { executionId } = awaiting[0]!;
    const at = Date.now() + inMs;
    const moves = [first, second].map((action, place) => ({ action, at, by: `racer ${place}` }));
    for (const [place, move] of moves.entries()) {
      racers[place]!.send({ type: 'move', ...move, sessionId: session.sessionId, executionId });
    }
    const codes: unknown[] = [];
    for (const racer of racers) codes.push((await racer.next('moved')).code);
    // Whoever found the session's lock taken left it to the next sweep.
    const isAtRest = async () => {
      await runtime.recover();
      return ['IDLE', 'FAILED'].includes((await session.status()).state);
    };
    await waitFor(isAtRest, { for: 'the run to rest' });
    const result = { codes, acts: acts(session), decisions: await rounds(session) };
    await runtime.close();
    return result;
  }

  const many = Array.from({ length: ROUNDS }, (_, round) => round);

  test.each(many)('C17 approve and approve: one wins, the other is told so, the effect happens once (%i)', async () => {
    const { codes, acts, decisions } = await race('approve', 'approve');
    expect([...codes].sort()).toEqual(['APPROVAL_DECIDED', null]);
    expect([acts, decisions]).toEqual([1, ['granted']]);
  });

  test.each(many)('approve and deny: one wins, and only what was granted ran (%i)', async () => {
    const { codes, acts, decisions } = await race('approve', 'deny');
    const isGranted = codes[0] === null;
    expect(codes).toEqual(isGranted ? [null, 'APPROVAL_DECIDED'] : ['APPROVAL_DECIDED', null]);
    expect([acts, decisions]).toEqual(isGranted ? [1, ['granted']] : [0, ['denied']]);
  });

  test.each(many)('approve and expire: what was not granted in time does not run (%i)', async (round) => {
    const { codes, acts, decisions } = await race('approve', 'expire', 'expire', EXPIRES_IN_MS - 60 + 20 * round);
    expect(codes[1]).toBeNull();
    const isGranted = codes[0] === null;
    if (!isGranted) expect(['APPROVAL_EXPIRED', 'APPROVAL_DECIDED']).toContain(codes[0]);
    expect([acts, decisions]).toEqual(isGranted ? [1, ['granted']] : [0, ['expired']]);
  });

  test.each(many)('approve and cancel: at most one act, and none where the approval came too late (%i)', async () => {
    const { codes, acts, decisions } = await race('approve', 'cancel');
    expect(codes[1]).toBeNull();
    expect(codes[0] === null ? [0, 1] : [0]).toContain(acts);
    expect(decisions).toEqual([acts === 1 ? 'granted' : 'cancelled']);
  });

  test.each(many)('settle and settle: one says how it ended, the other is told that it is said (%i)', async () => {
    const { codes, acts, decisions } = await race('settle', 'settle', 'hang');
    expect([...codes].sort()).toEqual(['EXECUTION_SETTLED', null]);
    expect([acts, decisions]).toEqual([1, ['settled']]);
  });
});
