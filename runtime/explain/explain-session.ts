import type { Limits } from '../../limits.ts';
import type { Build } from '../../persistence/build.ts';
import { childSessionId } from '../../persistence/keys/child-ids.ts';
import { isLeaseLive } from '../../persistence/lease.ts';
import { type Awaiting, listAwaiting } from '../../persistence/list-awaiting.ts';
import { type ControlSummary, readControlsById } from '../../persistence/read-controls-by-id.ts';
import { type LastFailure, readLastFailure } from '../../persistence/read-last-failure.ts';
import type { SessionKey } from '../../persistence/read-session.ts';
import { readSessionOverview } from '../../persistence/read-session-overview.ts';
import { readStanding } from '../../persistence/read-standings.ts';
import { isWithChild } from '../../persistence/row-changes.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import type { Standing } from '../../persistence/standing.ts';
import type { Explanation, Waiting } from './explanation.ts';
import { type Situation, waitsOf } from './waits-of.ts';

/** What explaining needs of a runtime. */
export interface Explaining {
  store: Store;
  /** What a session is compared with; absent: nothing is said of what is newer. */
  build?: Build | undefined;
}

/** Readings in a row after which a session that moves all the time is told as it was seen last. */
const MAX_READINGS = 3;

/** Sessions one below the other whose waiting is told. */
const MAX_LEVELS = 8;

/** Rounds of asking that are told. */
const MAX_ASKED = 100;

/**
 * What a session waits for, since when, and what unblocks it. It reads and takes no lock; one that moves meanwhile is read again.
 *
 * @throws SESSION_NOT_FOUND when the tenant has no such session.
 */
export async function explainSession(explaining: Explaining, key: SessionKey): Promise<Explanation> {
  const { store } = explaining;
  const overview = await readSessionOverview(store, key);
  const { standing, waitsFor } = await readWaits(explaining, key, 0);
  const { tenantId, sessionId } = key;
  const { state, version, inbox, now } = standing;
  return {
    tenantId,
    sessionId,
    state,
    since: overview.since,
    userId: overview.userId,
    externalId: overview.externalId,
    agent: standing.agent,
    agentVersion: standing.agentVersion,
    version,
    runId: standing.snapshot?.context.runId ?? null,
    parent: overview.parent,
    waitsFor,
    lease: leaseOf(standing, store.limits),
    wakeAt: standing.wakeAt,
    recoveries: { used: standing.recoveries, bound: store.limits.maxRecoveries },
    inbox: { waiting: inbox.waiting, since: inbox.since },
    now,
  };
}

/** Who holds it. A lease is given for `leaseMs`, so its end says when it was given last. */
function leaseOf(standing: Standing, { leaseMs }: Limits): Explanation['lease'] {
  const { leaseHolder: holder, leaseExpiresAt: expiresAt, now } = standing;
  if (holder === null || expiresAt === null) return null;
  const heartbeatAt = new Date(Math.min(expiresAt.getTime() - leaseMs, now.getTime()));
  return { holder, expiresAt, heartbeatAt, isLive: isLeaseLive({ leaseExpiresAt: expiresAt }, now) };
}

async function readWaits(
  explaining: Explaining,
  key: SessionKey,
  level: number,
): Promise<{ standing: Standing; waitsFor: Waiting[] }> {
  const situation = await readSituation(explaining, key);
  const { standing } = situation;
  const waitsFor: Waiting[] = [];
  for (const waiting of waitsOf(situation)) {
    if (waiting.kind === 'child' && waiting.state !== null && level < MAX_LEVELS) {
      const child = { tenantId: key.tenantId, sessionId: waiting.childSessionId };
      waitsFor.push({ ...waiting, waitsFor: (await readWaits(explaining, child, level + 1)).waitsFor });
    } else waitsFor.push(waiting);
  }
  return { standing, waitsFor };
}

/** Everything that the answer follows from, of one version of the session. */
async function readSituation({ store, build }: Explaining, key: SessionKey): Promise<Situation> {
  for (let reading = 1; ; reading += 1) {
    const standing = await readStanding(store, key, build);
    const asked = standing.rounds.length === 0 ? [] : await readAsked(store, key);
    const controls = await readHolding(store, standing);
    const failure = await readFailure(store, standing);
    const children = await readChildren(store, standing);
    const { version } = reading < MAX_READINGS ? await readStanding(store, key) : standing;
    if (version === standing.version) {
      return { standing, asked, controls, failure, children, limits: store.limits, build };
    }
  }
}

function readAsked(store: Store, { tenantId, sessionId }: SessionKey): Promise<Awaiting[]> {
  return listAwaiting(store, { tenantId, sessionId, limit: MAX_ASKED });
}

async function readHolding(store: Store, { tenantId, rounds }: Standing): Promise<ControlSummary[]> {
  const ids = [...new Set(rounds.flatMap(({ controls }) => controls))];
  return ids.length === 0 ? [] : readControlsById(store, tenantId, ids);
}

async function readFailure(store: Store, standing: Standing): Promise<LastFailure | null> {
  const { state, snapshot } = standing;
  if (state !== 'FAILED' && state !== 'PLANNING') return null;
  const { runId = null, failedModelAttempts = 0 } = snapshot?.context ?? {};
  if (runId === null || (state === 'PLANNING' && failedModelAttempts === 0)) return null;
  return readLastFailure(store, standing, runId);
}

async function readChildren(store: Store, standing: Standing): Promise<Situation['children']> {
  const children: Situation['children'] = new Map();
  const { tenantId, calls } = standing;
  for (const call of calls.filter(isWithChild)) {
    if (!call.hasChildSession) continue;
    const { state } = await readStanding(store, { tenantId, sessionId: childSessionId(call.executionId) });
    children.set(call.executionId, state);
  }
  return children;
}
