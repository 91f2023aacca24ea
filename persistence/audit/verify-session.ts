import type { EntityManager } from '@mikro-orm/postgresql';
import { beginFold, endFold, type Fold, type FoldLoss, foldTransitions } from '../../machines/fold-transitions.ts';
import type { SessionState } from '../../machines/session-state.ts';
import { sessionRowFacts } from '../audited-rows.ts';
import { saltedDigest } from '../keys/salted-digest.ts';
import { inPatientTransaction } from '../patient-transaction.ts';
import type { SessionKey } from '../read-session.ts';
import type { Store } from '../session-transaction.ts';
import { type ChainEnd, checkLink, checkPayload, differs, FORMAT_VERSION } from './check-chain.ts';
import { type BelievedRow, checkContents, checkCopied, countUnaccounted } from './check-contents.ts';
import { countUnnamed, RowsCheck } from './check-rows.ts';
import type { Finding } from './finding.ts';
import { readVerifiedRows, type VerifiedRow } from './read-audit-rows.ts';
import { type AuditedSession, readAuditedSession } from './read-audited-session.ts';
import { isReadablePayload } from './read-payload.ts';

/** What came of replaying a session: its recorded events, folded through the machine of their version. Nothing was run. */
export interface Replay {
  sessionId: string;
  /** The state of the session's row. */
  state: SessionState;
  /** How many transitions were looked at: the session's version when the replay began. */
  transitions: number;
  /** How many of them were folded. */
  folded: number;
  /** How many were passed over, as the fold stood nowhere: see `loss`. */
  skipped: number;
  /**
   * Why the fold stands nowhere at its end, so that the snapshot was compared with nothing: a payload was erased, the machine of that version
   * is not in this build, or an event did not fit. `null`: it came to its end.
   */
  loss: FoldLoss | null;
  /** What was found: of chain and rows first, then of the fold. Empty where all of it is as it should be. At most 100. */
  findings: Finding[];
}

/** What came of verifying a session. */
export interface Verification extends Replay {
  /** The last transition: what to anchor elsewhere. Sequence 0 with the hash of its begin for a session without one. */
  head: { sequence: number; hash: string };
  /** How many transitions have an erased payload: what they wrote cannot be compared any more, but they are part of the chain. */
  erased: number;
}

/** Transitions that are in memory at a time. */
const PAGE = 256;

/** Turns that are in memory at a time; those of one transition are, however many. */
const TURNS = 32;

/** Findings beyond these are not told: a session of which so much is wrong is wrong as a whole. */
const MAX_FINDINGS = 100;

/**
 * Folds the recorded events of a session and compares every state, and the snapshot, with its rows. Transitions that are committed meanwhile
 * are not looked at.
 *
 * @throws SESSION_NOT_FOUND when the tenant has no such session.
 */
export async function replaySession(store: Store, key: SessionKey): Promise<Replay> {
  const session = await inPatientTransaction(store, key, (em) => readAuditedSession(em, key));
  let fold = beginFold(session.firstMachineVersion);
  for await (const rows of pagesOf(store, key, session.version)) fold = foldTransitions(fold, rows.map(toFolded));
  return replayOf(key, session, endFold(fold, session), []);
}

/**
 * Verifies a session's audit: the hash chain from its begin to its version, every payload, the turns and the outcomes against their digests,
 * and the fold. It reads page by page, so memory does not grow with the session, and takes no lock: transitions that are committed meanwhile
 * are not looked at.
 *
 * @throws SESSION_NOT_FOUND when the tenant has no such session.
 */
export async function verifySession(store: Store, key: SessionKey): Promise<Verification> {
  const session = await inPatientTransaction(store, key, (em) => readAuditedSession(em, key));
  const { version, genesisHash, trueGenesisHash } = session;
  const findings: Finding[] = [];
  const find = (found: Finding[]) => findings.push(...found.slice(0, MAX_FINDINGS - findings.length));
  find(listed(differs('GENESIS_DIFFERS', null, genesisHash, trueGenesisHash ?? genesisHash)));
  let end: ChainEnd = { sequence: 0, state: 'IDLE', hash: genesisHash, formatVersion: 1 };
  let first: VerifiedRow | null = null;
  let last: VerifiedRow | null = null;
  const written = new RowsCheck(key);
  let fold = beginFold(session.firstMachineVersion);
  let erased = 0;
  let isWhole = true;
  for await (const rows of pagesOf(store, key, version)) {
    const believed: BelievedRow[] = [];
    for (const row of rows) {
      const wrong = checkPayload(row);
      find([...checkLink(end, row), ...wrong]);
      end = { sequence: row.sequence, state: row.to, hash: row.hash, formatVersion: row.formatVersion };
      first ??= row;
      last = row;
      if (session.isErased) find(checkErasure(row));
      if (row.erasedAt !== null) erased += 1;
      isWhole &&= wrong.length === 0;
      if (wrong.length === 0 && isBelieved(row)) believed.push(row);
    }
    if (believed.length > 0)
      find(await inPatientTransaction(store, key, (em) => checkPage(em, key, believed, written)));
    fold = foldTransitions(fold, rows.map(toFolded));
  }
  find(checkEnd(session, end));
  // What was erased says nothing of outcomes any more.
  const unaccounted = erased > 0 ? 0 : await inPatientTransaction(store, key, (em) => countUnaccounted(em, key));
  find(listed(differs('OUTCOMES_UNACCOUNTED', null, `${unaccounted} outcomes without a transition`, NONE_UNACCOUNTED)));
  if (erased === 0) find(await checkWritten(store, key, { session, first, last, written, isWhole }));
  const replay = replayOf(key, session, endFold(fold, session), findings);
  return { ...replay, head: { sequence: end.sequence, hash: end.hash }, erased };
}

const NONE_UNACCOUNTED = '0 outcomes without a transition';

/** A session of which the row says that it is erased has no payload any more but that which says so. */
function checkErasure({ sequence, type, payload }: VerifiedRow): Finding[] {
  if (payload === null || type === 'content.erased') return [];
  return [{ code: 'ROWS_DIFFER', sequence, found: 'a payload of an erased session', wanted: 'none' }];
}

interface Written {
  session: AuditedSession;
  first: VerifiedRow | null;
  last: VerifiedRow | null;
  written: RowsCheck;
  /** Whether every payload is the one that was hashed, so that what none names was named by none. */
  isWhole: boolean;
}

/** The rows are as the last transitions that name them left them, and none is there that no transition names. */
async function checkWritten(store: Store, key: SessionKey, found: Written): Promise<Finding[]> {
  const { session, first, last, written, isWhole } = found;
  const findings = await inPatientTransaction(store, key, (em) => written.findings(em, session.version));
  findings.push(...checkSessionRow(session, first, last));
  // Those of a session that began before there were digests of rows are named by none.
  if (!isWhole || first === null || first.formatVersion < FORMAT_VERSION) return findings;
  const unnamed = await inPatientTransaction(store, key, (em) => countUnnamed(em, key));
  const wanted = '0 rows that no transition names';
  return [
    ...findings,
    ...listed(differs('ROWS_UNACCOUNTED', null, `${unnamed} rows that no transition names`, wanted)),
  ];
}

function checkSessionRow(session: AuditedSession, first: VerifiedRow | null, last: VerifiedRow | null): Finding[] {
  if (first === null || last === null || session.isErased) return [];
  const code = 'ROWS_DIFFER';
  const findings: Finding[] = [];
  const told = last.payload?.rows?.session;
  if (typeof told === 'string' && last.sequence === session.version) {
    const row = saltedDigest(last.salt ?? '', sessionRowFacts(session));
    findings.push(
      ...listed(differs(code, last.sequence, row === told ? OWN_ROW : 'a session with other columns', OWN_ROW)),
    );
  }
  const origin = originOf(first);
  if (session.forkOriginSessionId !== null && session.forkOriginSessionId !== origin) {
    const said = `a fork of ${session.forkOriginSessionId}`;
    findings.push({ code, sequence: first.sequence, found: said, wanted: origin ?? 'no fork' });
  }
  return findings;
}

const OWN_ROW = 'as it was written';

/** The session of which a first transition makes a fork. */
function originOf({ type, payload }: VerifiedRow): string | null {
  const { originSessionId } = (payload?.event ?? {}) as { originSessionId?: unknown };
  return type === 'session.forked' && typeof originSessionId === 'string' ? originSessionId : null;
}

/** Version, state and number of turns are those that the transitions lead to. */
function checkEnd({ version, state, snapshot, turns }: AuditedSession, end: ChainEnd): Finding[] {
  const { nextTurnIndex } = ((snapshot as { context?: object } | null)?.context ?? {}) as { nextTurnIndex?: unknown };
  const accounted = typeof nextTurnIndex === 'number' ? nextTurnIndex : turns;
  return [
    ...listed(differs('TRANSITION_MISSING', null, `version ${version}`, `version ${end.sequence}`)),
    ...listed(differs('LINK_BROKEN', null, `state ${state}`, `state ${end.state}`)),
    ...listed(differs('TURNS_UNACCOUNTED', null, `${turns} turns`, `${accounted} turns`)),
  ];
}

function listed(finding: Finding | null): Finding[] {
  return finding === null ? [] : [finding];
}

/** The transitions up to `version`, each page in a transaction of its own. */
async function* pagesOf(store: Store, key: SessionKey, version: number): AsyncGenerator<VerifiedRow[]> {
  for (let after = 0; after < version; ) {
    const page = { ...key, after, upTo: version, limit: PAGE };
    const rows = await inPatientTransaction(store, key, (em) => readVerifiedRows(em, page));
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last.sequence;
  }
}

function isBelieved(row: VerifiedRow): row is BelievedRow {
  return row.salt !== null && row.payload !== null;
}

/** Turns and outcomes of one page, a few at a time. */
async function checkPage(
  em: EntityManager,
  key: SessionKey,
  rows: readonly BelievedRow[],
  written: RowsCheck,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const row of rows.filter(isFork)) findings.push(...(await checkCopied(em, key, row)));
  for (const batch of batches(rows.filter((row) => !isFork(row)))) {
    findings.push(...(await checkContents(em, key, batch)));
    await written.check(em, batch);
  }
  return findings;
}

function isFork({ payload }: BelievedRow): boolean {
  return payload.event.type === 'session.forked';
}

function* batches(rows: readonly BelievedRow[]): Generator<BelievedRow[]> {
  let batch: BelievedRow[] = [];
  let turns = 0;
  for (const row of rows) {
    const own = row.payload.turns.length + row.payload.outcomes.length;
    if (batch.length > 0 && turns + own > TURNS) {
      yield batch;
      batch = [];
      turns = 0;
    }
    batch.push(row);
    turns += own;
  }
  if (batch.length > 0) yield batch;
}

function toFolded({ sequence, formatVersion, from, to, type, payload, hasPayload, erasedAt }: VerifiedRow) {
  // A payload that is `null` and was not erased is none that can be read.
  if (erasedAt !== null || !hasPayload) return { sequence, from, to, type, event: null };
  return {
    sequence,
    from,
    to,
    type,
    event:
      payload !== null && isReadablePayload(payload, formatVersion) ? payload.event : { type: 'unreadable' as never },
  };
}

function replayOf({ sessionId }: SessionKey, session: AuditedSession, fold: Fold, found: Finding[]): Replay {
  const { folded, skipped, loss } = fold;
  const findings = [...found, ...fold.findings].slice(0, MAX_FINDINGS);
  return { sessionId, state: session.state, transitions: session.version, folded, skipped, loss, findings };
}
