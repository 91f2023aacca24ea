import type { Sent } from '../play/client.ts';
import type { Broken } from '../play/play-plan.ts';
import type { Stage } from '../play/stage.ts';
import { PROMISE_NAMES } from './promise-names.ts';

/** Messages that began runs, in order. */
const BEGUN = `SELECT t.session_id, u.content FROM turnlock.agent_transitions t JOIN turnlock.agent_turns u
    ON u.session_id = t.session_id AND u.run_id = t.run_id AND u.role = 'user'
  WHERE t.event = 'user.messaged' AND t.from_state = 'IDLE' ORDER BY t.session_id, t.sequence, u.turn_index`;

/** Commits of a run by whoever held it, from a version on, under each token. */
const COMMITS = `SELECT count(*)::int AS count FROM turnlock.agent_transitions t
    JOIN turnlock.agent_transition_payloads p USING (session_id, sequence)
  WHERE t.session_id = $1 AND t.sequence > $2 AND t.run_id = $3 AND p.payload->>'holder' IS NOT NULL
  GROUP BY t.token ORDER BY 1 DESC LIMIT 1`;

/** What clients are promised of their messages, held against what clients heard. */
export async function checkMessages<World>(stage: Stage<World>): Promise<Broken | null> {
  return (await checkOrder(stage)) ?? (await checkInterruptions(stage));
}

/** A message that was taken before another one was even sent is answered before it, unless that one interrupts. */
async function checkOrder<World>({ sent, database }: Stage<World>): Promise<Broken | null> {
  const sessions = sent.map(({ command }) => command.session);
  if (new Set(sessions).size === sessions.length) return null;
  const rows = await database.query(BEGUN);
  for (const [place, row] of rows.entries()) {
    const first = sent.find(({ text }) => text === row.content);
    if (first === undefined || first.command.whenBusy === 'interrupt') continue;
    for (const later of rows.slice(place + 1)) {
      if (later.session_id !== row.session_id) break;
      const overtaken = sent.find(({ text }) => text === later.content);
      if (!isBefore(overtaken, first)) continue;
      const message = `${first.text} was answered before ${overtaken?.text}, which was taken before it was sent`;
      return { invariant: PROMISE_NAMES.order, message };
    }
  }
  return null;
}

function isBefore(one: Sent | undefined, other: Sent): boolean {
  return one?.takenAt != null && one.takenAt < other.sentAt;
}

/** Whoever holds a run hears of an interruption by SQL when it commits. On a server one commit may be under way as it comes. */
async function checkInterruptions<World>({ sent, database }: Stage<World>): Promise<Broken | null> {
  const most = database.kind === 'pglite' ? 1 : 2;
  for (const { command, text, cameAt } of sent) {
    if (command.whenBusy !== 'interrupt' || cameAt === null) continue;
    const { sessionId, version, runId } = cameAt;
    const [row] = await database.query(COMMITS, [sessionId, version, runId]);
    if ((row?.count ?? 0) > most) {
      const message = `${text} interrupts, and the run went on for ${row.count} commits`;
      return { invariant: PROMISE_NAMES.interrupted, message };
    }
  }
  return null;
}
