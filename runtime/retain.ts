import type { SessionState } from '../machines/session-state.ts';
import { type AgedRows, countAged, removeAged } from '../persistence/remove-aged.ts';
import { listRemovable, type RetentionRule, removeSessions } from '../persistence/remove-sessions.ts';
import type { Store } from '../persistence/session-transaction.ts';
import { checkOptions } from './check-options.ts';
import { checkFlag, checkLimit, checkTenant, optionRefused } from './check-query.ts';

/** From when on sessions in one state are removed. */
export interface RetentionPolicy {
  /** IDLE, AWAITING_INPUT, FAILED or COMPLETED: what is at work is never removed. */
  state: Exclude<SessionState, 'PLANNING' | 'EXECUTING_TOOL'>;
  /** Milliseconds since the session's last transition, on the database's clock, from 0 to 100 years. */
  olderThanMs: number;
  /** Of this tenant; it counts before a policy without one. Absent: of every tenant that has none of its own for the state. */
  tenantId?: string;
}

/** What `retain` takes. */
export interface RetainOptions {
  /** Default: `retention` of the runtime. */
  policies?: readonly RetentionPolicy[];
  /** Only what is this tenant's. Default: all tenants. */
  tenantId?: string;
  /** Milliseconds for which a business key is remembered after its last change, once its session is gone. Default 365 days. */
  claimsOlderThanMs?: number;
  /**
   * Milliseconds for which it is kept what operators looked for and removed, at least 30 days. They name no tenant, so not together with
   * `tenantId`. Default: kept for ever.
   */
  readsOlderThanMs?: number;
  /** Milliseconds since a memory expired or was superseded: so long ago it is removed. Default: kept for ever. */
  memoriesOlderThanMs?: number;
  /** Counts what would go, and removes nothing. Default false. */
  dryRun?: boolean;
  /** Sessions that one transaction removes, a whole number from 1 to 1000. Default 20. */
  batchSize?: number;
}

/** What `retain` did, or would do. */
export interface Retention {
  dryRun: boolean;
  /** How many sessions were removed, or would be: by tenant and state. */
  sessions: { tenantId: string; state: SessionState; sessions: number }[];
  /** How many sessions might have gone and stayed: somebody held them, or they changed meanwhile. */
  kept: number;
  /** How many business keys were forgotten, or would be. */
  claims: number;
  /** How many memories that had expired or were superseded went, or would. */
  memories: number;
  /** How many rows of what operators looked for and removed were forgotten, or would be. */
  reads: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_AGE_MS = 100 * 366 * DAY_MS;
const DEFAULT_CLAIMS_MS = 365 * DAY_MS;
/** As the database has it: nobody hides at once what was done with an operator's rights. */
const MIN_READS_MS = 30 * DAY_MS;
const DEFAULT_BATCH = 20;
/** How many sessions are looked at in one statement, and how many keys or reads are removed. */
const PAGE = 10_000;
const ROWS = 1_000;

const OPTIONS = [
  'policies',
  'tenantId',
  'claimsOlderThanMs',
  'readsOlderThanMs',
  'memoriesOlderThanMs',
  'dryRun',
  'batchSize',
];
const STATES: readonly SessionState[] = ['IDLE', 'AWAITING_INPUT', 'FAILED', 'COMPLETED'];

interface Retaining {
  rules: readonly RetentionRule[];
  tenantId: string | null;
  batchSize: number;
  claimsOlderThanMs: number;
  /** `null`: for ever. */
  readsOlderThanMs: number | null;
  /** `null`: for ever. */
  memoriesOlderThanMs: number | null;
  dryRun: boolean;
}

/** @throws OPTIONS_INVALID, VALUE_INVALID. */
export function checkPolicies(policies: readonly RetentionPolicy[]): readonly RetentionRule[] {
  if (!Array.isArray(policies)) throw optionRefused('policies', 'an array');
  const rules = policies.map((policy): RetentionRule => {
    const { state, olderThanMs, tenantId } = checkOptions(policy, 'policies', ['state', 'olderThanMs', 'tenantId']);
    if (!STATES.includes(state)) throw optionRefused('state', STATES.join(', '));
    const rule = { state, olderThanMs: checkAge(olderThanMs, 'olderThanMs') };
    return tenantId === undefined ? rule : { ...rule, tenantId: checkTenant(tenantId) };
  });
  const names = rules.map(({ state, tenantId = null }) => JSON.stringify([state, tenantId]));
  const twice = rules.find((_, place) => names.indexOf(names[place]!) !== place);
  if (twice !== undefined) throw optionRefused('policies', `one for ${forWhom(twice)}`);
  return rules;
}

/** Whom a policy is for, in words. */
export function forWhom({ state, tenantId }: Pick<RetentionRule, 'state' | 'tenantId'>): string {
  return tenantId === undefined ? state : `${state} of tenant ${JSON.stringify(tenantId)}`;
}

/** Those of `configured` that keep longer what `asked` would remove, within `tenantId` where it is given. */
export function keepLonger(
  configured: readonly RetentionRule[],
  asked: readonly RetentionRule[],
  tenantId?: string,
): readonly RetentionRule[] {
  return configured.filter(
    (rule) =>
      (tenantId === undefined || rule.tenantId === undefined || rule.tenantId === tenantId) &&
      asked.some(({ state, olderThanMs }) => state === rule.state && olderThanMs < rule.olderThanMs),
  );
}

function checkAge(ms: number, name: string, min = 0): number {
  if (Number.isInteger(ms) && ms >= min && ms <= MAX_AGE_MS) return ms;
  throw optionRefused(name, `a whole number from ${min} to ${MAX_AGE_MS}`);
}

function checkReadsAge({ readsOlderThanMs, tenantId }: RetainOptions): number | null {
  if (readsOlderThanMs === undefined) return null;
  if (tenantId !== undefined) throw optionRefused('readsOlderThanMs', 'no tenantId beside it: reads are of no tenant');
  return checkAge(readsOlderThanMs, 'readsOlderThanMs', MIN_READS_MS);
}

function checkRetain(options: RetainOptions, defaults: readonly RetentionRule[]): Retaining {
  const { policies, tenantId, claimsOlderThanMs, memoriesOlderThanMs, dryRun, batchSize } = checkOptions(
    options,
    'retain',
    OPTIONS,
  );
  const rules = policies === undefined ? defaults : checkPolicies(policies);
  if (rules.length === 0) throw optionRefused('policies', 'at least one policy, here or as retention of the runtime');
  return {
    rules,
    tenantId: tenantId === undefined ? null : checkTenant(tenantId),
    claimsOlderThanMs: checkAge(claimsOlderThanMs ?? DEFAULT_CLAIMS_MS, 'claimsOlderThanMs'),
    readsOlderThanMs: checkReadsAge(options),
    memoriesOlderThanMs:
      memoriesOlderThanMs === undefined ? null : checkAge(memoriesOlderThanMs, 'memoriesOlderThanMs'),
    dryRun: checkFlag(dryRun, 'dryRun'),
    batchSize: checkLimit(batchSize ?? DEFAULT_BATCH, 'batchSize'),
  };
}

/** `checkGoesOn` is called between two transactions, and throws where nothing new shall begin. */
export async function retain(
  store: Store,
  options: RetainOptions,
  defaults: readonly RetentionRule[],
  checkGoesOn: () => void,
): Promise<Retention> {
  const retaining = checkRetain(options, defaults);
  const counts = new Map<string, Retention['sessions'][number]>();
  let kept = 0;
  for (let after: string | null = null; ; ) {
    checkGoesOn();
    const { tenantId } = retaining;
    const page = await listRemovable(store, retaining.rules, { tenantId, after, max: PAGE });
    const removable = page.filter(({ isRemovable }) => isRemovable);
    for (let from = 0; from < removable.length; from += retaining.batchSize) {
      checkGoesOn();
      const batch = removable.slice(from, from + retaining.batchSize);
      const gone = new Set(await removeBatch(store, retaining, batch));
      kept += batch.length - gone.size;
      for (const { sessionId, tenantId: owner, state } of batch) if (gone.has(sessionId)) count(counts, owner, state);
    }
    after = page.at(-1)?.sessionId ?? null;
    if (after === null) break;
  }
  const sessions = [...counts.values()].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const aged = (kind: AgedRows['kind'], olderThanMs: number | null) =>
    retainAged(store, retaining, { kind, olderThanMs }, checkGoesOn);
  const claims = await aged('claims', retaining.claimsOlderThanMs);
  const reads = await aged('reads', retaining.readsOlderThanMs);
  const memories = await aged('memories', retaining.memoriesOlderThanMs);
  return { dryRun: retaining.dryRun, sessions, kept, claims, memories, reads };
}

async function removeBatch(
  store: Store,
  { rules, dryRun }: Retaining,
  batch: readonly { sessionId: string }[],
): Promise<string[]> {
  const ids = batch.map(({ sessionId }) => sessionId);
  return dryRun ? ids : removeSessions(store, rules, ids);
}

/** Removes `ROWS` at a time, each in a transaction of its own, until there are fewer; `null` as age: for ever. */
async function retainAged(
  store: Store,
  { tenantId, dryRun }: Retaining,
  { kind, olderThanMs }: { kind: AgedRows['kind']; olderThanMs: number | null },
  checkGoesOn: () => void,
): Promise<number> {
  if (olderThanMs === null) return 0;
  const rows = { kind, olderThanMs, tenantId };
  if (dryRun) return countAged(store, rows);
  for (let sum = 0; ; ) {
    checkGoesOn();
    const removed = await removeAged(store, rows, ROWS);
    sum += removed;
    if (removed < ROWS) return sum;
  }
}

const nameOf = ({ tenantId, state }: { tenantId: string; state: SessionState }): string =>
  JSON.stringify([tenantId, state]);

function count(counts: Map<string, Retention['sessions'][number]>, tenantId: string, state: SessionState): void {
  const name = nameOf({ tenantId, state });
  counts.set(name, { tenantId, state, sessions: (counts.get(name)?.sessions ?? 0) + 1 });
}
