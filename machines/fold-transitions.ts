import { isTurnlockError, type TurnlockError } from '../errors.ts';
import { EARLIER_MACHINES } from './machine-versions.ts';
import { nextSnapshot } from './next-snapshot.ts';
import { SESSION_MACHINE_ID, SESSION_MACHINE_VERSION } from './session.machine.ts';
import type { RecordedEvent, SessionEvent } from './session-event.ts';
import type { SessionState } from './session-state.ts';
import { decodeSnapshot, encodeSnapshot, initialSnapshot, type SessionSnapshot } from './snapshot-codec.ts';
import { snapshotDifferences, valueAt } from './snapshot-differences.ts';

/** A committed transition, as far as a fold looks at it. */
export interface FoldedTransition {
  sequence: number;
  from: SessionState;
  to: SessionState;
  /** The event's name, as the row says it. */
  type: string;
  /** `null` where its payload was erased. */
  event: RecordedEvent | null;
}

/**
 * What a fold found.
 *
 * - `EVENT_ILLEGAL`: the machine does not take the recorded event where the fold stands, or cannot read it;
 * - `EVENT_DIFFERS`: the row names another event than its payload;
 * - `STATE_DIFFERS`: the event leads to another state than the row says, or the row begins in another one than the fold stands in;
 * - `UPGRADE_DIFFERS`: the recorded upgrade is not what the upgrade of the folded snapshot comes to, does not parse, or is not one from the
 *   version before it to a later one;
 * - `MACHINE_NEWER`: the session is of a version of the machine that is newer than this build, which cannot examine it;
 * - `SNAPSHOT_DIFFERS`: the session's stored snapshot, or the version of its machine, is not the one that the transitions lead to.
 */
export type FoldCode =
  | 'EVENT_ILLEGAL'
  | 'EVENT_DIFFERS'
  | 'STATE_DIFFERS'
  | 'UPGRADE_DIFFERS'
  | 'MACHINE_NEWER'
  | 'SNAPSHOT_DIFFERS';

/** One thing that a fold found. */
export interface FoldFinding {
  code: FoldCode;
  /** The transition; `null` for the session's row. */
  sequence: number | null;
  found: string;
  wanted: string;
}

/**
 * Why a fold stands nowhere: a payload was erased, the machine of that version is not in this build any more or not yet, or an event did not
 * fit.
 */
export type FoldLoss = 'erased' | 'machineGone' | 'machineNewer' | 'illegal';

/** A fold that is under way. A plain value: folding on makes another one. */
export interface Fold {
  /** The version of the machine that folds; `null` once an upgrade was erased, so that nobody knows it. */
  readonly machineVersion: number | null;
  /** Where it stands: a live snapshot of the present machine, a stored one of an earlier; `undefined` once it was lost. */
  readonly held: unknown;
  readonly loss: FoldLoss | null;
  /** How many transitions it has folded. */
  readonly folded: number;
  /** How many it passed over, since it stood nowhere. */
  readonly skipped: number;
  /** At most 100. */
  readonly findings: readonly FoldFinding[];
}

/** What folds the events of one version. */
interface Folder {
  initial(): unknown;
  next(held: unknown, event: RecordedEvent): unknown;
  /** As a row would hold it. */
  stored(held: unknown): unknown;
}

const PRESENT: Folder = {
  initial: initialSnapshot,
  next: (held, event) => nextSnapshot(held as SessionSnapshot, event as SessionEvent),
  stored: (held) => encodeSnapshot(held as SessionSnapshot),
};

function folderOf(machineVersion: number): Folder | null {
  if (machineVersion === SESSION_MACHINE_VERSION) return PRESENT;
  const earlier = EARLIER_MACHINES.find(({ version }) => version === machineVersion);
  const next = earlier?.next;
  if (earlier === undefined || next === undefined) return null;
  return { initial: () => earlier.initial, next: (held, event) => next(held, event), stored: (held) => held };
}

function whyNoFolder(machineVersion: number): FoldLoss {
  return machineVersion > SESSION_MACHINE_VERSION ? 'machineNewer' : 'machineGone';
}

/** The fold of a session that began with that version of the machine, before its first transition. */
export function beginFold(machineVersion: number): Fold {
  const folder = folderOf(machineVersion);
  const none = { machineVersion, folded: 0, skipped: 0, findings: [] };
  return folder === null
    ? { ...none, held: undefined, loss: whyNoFolder(machineVersion) }
    : { ...none, held: folder.initial(), loss: null };
}

/**
 * The fold after `transitions`, the next ones in their order: each recorded event goes through the machine of its version, which must reach
 * the state of the row. Pure: it runs nothing, and reads nothing but its arguments.
 *
 * Where an event does not fit or was erased, the fold stands nowhere; it goes on from the next row that holds a whole snapshot, that of an
 * upgrade of the machine.
 *
 * @example
 * const fold = foldTransitions(beginFold(SESSION_MACHINE_VERSION), await session.transitions());
 */
export function foldTransitions(fold: Fold, transitions: Iterable<FoldedTransition>): Fold {
  let last = fold;
  for (const transition of transitions) last = foldOne(last, transition);
  return last;
}

function foldOne(fold: Fold, transition: FoldedTransition): Fold {
  const { event, sequence, type } = transition;
  if (event === null) return lost(type === 'machine.upgraded' ? { ...fold, machineVersion: null } : fold, 'erased');
  const named = event.type === type ? fold : found(fold, 'EVENT_DIFFERS', sequence, event.type, type);
  if (event.type === 'machine.upgraded') return foldUpgrade(named, transition, event);
  return named.loss === null ? foldEvent(named, transition, event) : { ...named, skipped: named.skipped + 1 };
}

function foldEvent(fold: Fold, transition: FoldedTransition, event: RecordedEvent): Fold {
  const folder = folderOf(fold.machineVersion as number) as Folder;
  const { sequence } = transition;
  const standing = stateOf(folder, fold.held);
  const begun = standing === transition.from ? fold : found(fold, 'STATE_DIFFERS', sequence, transition.from, standing);
  try {
    const held = folder.next(begun.held, event);
    const reached = stateOf(folder, held);
    const next = { ...begun, held, folded: begun.folded + 1 };
    return reached === transition.to ? next : found(next, 'STATE_DIFFERS', sequence, transition.to, reached);
  } catch (error) {
    const why = isTurnlockError(error) ? textOf(error) : `${event.type}, which cannot be read`;
    return lost(found(begun, 'EVENT_ILLEGAL', sequence, why, `an event that ${standing} takes`), 'illegal');
  }
}

function foldUpgrade(fold: Fold, { sequence, to }: FoldedTransition, event: RecordedEvent): Fold {
  const { fromVersion, toVersion, snapshot } = event;
  // One that is none changes nothing: what follows it is examined as if it were not there.
  if (!isUpgrade(fold, fromVersion, toVersion)) {
    const wanted = `from version ${fold.machineVersion ?? 'before'} to a later one`;
    const not = found(fold, 'UPGRADE_DIFFERS', sequence, `from version ${fromVersion} to ${toVersion}`, wanted);
    return { ...not, skipped: not.skipped + 1 };
  }
  const machineVersion = toVersion as number;
  const folder = folderOf(machineVersion);
  const next = { ...fold, machineVersion };
  if (folder === null) return lost(next, whyNoFolder(machineVersion));
  try {
    const expected = fold.loss === null ? upgradedTo(machineVersion, fold) : snapshot;
    const held = folder === PRESENT ? decode(machineVersion, to, snapshot) : snapshot;
    const paths = snapshotDifferences(snapshot, expected);
    const checked = paths.length === 0 ? next : found(next, 'UPGRADE_DIFFERS', sequence, paths.join(', '), 'no change');
    return { ...checked, held, loss: null, folded: fold.folded + 1 };
  } catch (error) {
    const why = isTurnlockError(error) ? textOf(error) : 'a snapshot that cannot be read';
    return lost(found(next, 'UPGRADE_DIFFERS', sequence, why, `one of version ${machineVersion}`), 'illegal');
  }
}

/** Whether an upgrade leads from the version in which the fold stands to a later one. */
function isUpgrade({ machineVersion }: Fold, from: unknown, to: unknown): boolean {
  if (!Number.isInteger(from) || !Number.isInteger(to)) return false;
  return (machineVersion === null || from === machineVersion) && (to as number) > (from as number);
}

/** A message as a part of a sentence. */
function textOf({ message }: TurnlockError): string {
  return message.replace(/\.$/, '');
}

/** What the folded snapshot becomes in a later version. */
function upgradedTo(wanted: number, { machineVersion, held }: Fold): unknown {
  const begun = machineVersion as number;
  const folder = folderOf(begun) as Folder;
  const steps = EARLIER_MACHINES.filter(({ version }) => version >= begun && version < wanted);
  return steps.reduce((stored, step) => step.upgrade(stored), folder.stored(held));
}

function decode(machineVersion: number, currentState: string, snapshot: unknown): SessionSnapshot {
  return decodeSnapshot({ machineId: SESSION_MACHINE_ID, machineVersion, currentState, snapshot });
}

/**
 * The fold once it has come to its end, compared with what the session's row holds. The snapshot of a fold that stands nowhere is compared
 * with nothing: its `loss` says why.
 */
export function endFold(fold: Fold, row: { machineVersion: number; snapshot: unknown }): Fold {
  const { machineVersion } = fold;
  if (machineVersion !== null && row.machineVersion !== machineVersion) {
    const [of, to] = [`machine version ${row.machineVersion}`, `machine version ${machineVersion}`];
    return found(fold, 'SNAPSHOT_DIFFERS', null, of, to);
  }
  if (row.machineVersion > SESSION_MACHINE_VERSION) {
    const wanted = `at most ${SESSION_MACHINE_VERSION}: a newer build examines it`;
    return found(fold, 'MACHINE_NEWER', null, `machine version ${row.machineVersion}`, wanted);
  }
  if (fold.loss !== null) return fold;
  const folded = (folderOf(machineVersion as number) as Folder).stored(fold.held);
  const paths = snapshotDifferences(row.snapshot, folded);
  if (paths.length === 0) return fold;
  const shown = (snapshot: unknown) =>
    paths.map((path) => `${path} ${JSON.stringify(valueAt(snapshot, path))}`).join(', ');
  return found(fold, 'SNAPSHOT_DIFFERS', null, shown(row.snapshot), shown(folded));
}

/** Findings beyond these are not told, so that a fold stays small. */
const MAX_FINDINGS = 100;

function found(fold: Fold, code: FoldCode, sequence: number | null, is: string, wanted: string): Fold {
  if (fold.findings.length >= MAX_FINDINGS) return fold;
  return { ...fold, findings: [...fold.findings, { code, sequence, found: is, wanted }] };
}

function lost(fold: Fold, loss: FoldLoss): Fold {
  const why = loss === 'machineNewer' ? loss : (fold.loss ?? loss);
  return { ...fold, held: undefined, loss: why, skipped: fold.skipped + 1 };
}

function stateOf(folder: Folder, held: unknown): string {
  return String((folder.stored(held) as { value?: unknown } | null)?.value);
}
