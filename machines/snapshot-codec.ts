import { initialTransition, type SnapshotFrom } from 'xstate';
import { z } from 'zod';
import { TurnlockError } from '../errors.ts';
import { EXECUTION_STATUSES, UNKNOWN_REASONS } from './execution-status.ts';
import { EARLIER_MACHINES } from './machine-versions.ts';
import { stateOfCalls } from './open-calls.ts';
import { SESSION_MACHINE_ID, SESSION_MACHINE_VERSION, sessionMachine } from './session.machine.ts';
import { SESSION_STATES, type SessionState } from './session-state.ts';

/** A live snapshot of the session machine. */
export type SessionSnapshot = SnapshotFrom<typeof sessionMachine>;

const uuid = z.string().min(1);
const count = z.int().min(0);

const openCall = z.strictObject({
  executionId: uuid,
  ordinals: z.array(count).min(1),
  status: z.enum(EXECUTION_STATUSES),
  attempt: count,
  waitsFor: z.enum(['approval', 'answer']).nullable(),
  unknownReason: z.enum(UNKNOWN_REASONS).nullable(),
  runAgain: z.boolean(),
  doubt: z.enum(UNKNOWN_REASONS).optional(),
});

/** The stored form of the present version: what the machine needs and nothing that XState keeps for itself. */
const storedSnapshot = z
  .strictObject({
    value: z.enum(SESSION_STATES),
    context: z.strictObject({
      runId: uuid.nullable(),
      nextTurnIndex: count,
      modelCalls: count,
      failedModelAttempts: count,
      callTurnIndex: count.nullable(),
      calls: z.array(openCall),
      failureCode: z.string().nullable(),
    }),
  })
  .superRefine(({ value, context: { runId, calls, callTurnIndex } }, { addIssue }) => {
    const refuse = (...path: string[]) => addIssue({ code: 'custom', path: ['context', ...path] });
    // A session that owes work and does not say which would wait for ever.
    const hasCalls = value === 'EXECUTING_TOOL' || value === 'AWAITING_INPUT';
    if (hasCalls ? stateOfCalls(calls) !== value : calls.length > 0) refuse('calls');
    if (hasCalls === (callTurnIndex === null)) refuse('callTurnIndex');
    if (runId === null && (hasCalls || value === 'PLANNING' || value === 'FAILED')) refuse('runId');
  });

/** A snapshot as its row holds it: plain JSON. */
export type StoredSnapshot = z.infer<typeof storedSnapshot>;

/** The snapshot of a session that has just been created. */
export function initialSnapshot(): SessionSnapshot {
  return initialTransition(sessionMachine)[0];
}

/** `snapshot` as plain JSON. `decodeSnapshot` gives back one that behaves the same. */
export function encodeSnapshot(snapshot: SessionSnapshot): StoredSnapshot {
  return { value: snapshot.value, context: snapshot.context };
}

/** What stands in a session's row. */
export interface StoredMachine {
  machineId: string;
  machineVersion: number;
  currentState: string;
  snapshot: unknown;
}

/** The stored snapshot with which sessions of a version begin; `undefined` for a version that this build does not know. */
export function initialStored(machineVersion: number): unknown {
  if (machineVersion === SESSION_MACHINE_VERSION) return encodeSnapshot(initialSnapshot());
  return EARLIER_MACHINES.find(({ version }) => version === machineVersion)?.initial;
}

/** Every version of the session machine whose snapshots this build reads. */
export function readableVersions(): number[] {
  return [...EARLIER_MACHINES.map(({ version }) => version), SESSION_MACHINE_VERSION];
}

/**
 * The live snapshot of a session's row. One of an earlier version is upgraded, step by step. XState restores whatever it is given, so
 * everything is checked here.
 *
 * @throws MACHINE_VERSION_UNSUPPORTED when another machine, or a version that this build does not know, wrote it.
 * @throws SNAPSHOT_INVALID when it does not parse, cannot be upgraded, or its state is not that of the row.
 */
export function decodeSnapshot(stored: StoredMachine): SessionSnapshot {
  const { machineId, machineVersion } = stored;
  if (machineId !== SESSION_MACHINE_ID || !readableVersions().includes(machineVersion)) {
    throw new TurnlockError('MACHINE_VERSION_UNSUPPORTED', {
      message: `machine version not known to this build: ${machineId} (found ${machineVersion}, wanted ${SESSION_MACHINE_VERSION})`,
      details: { machineId, found: machineVersion, wanted: SESSION_MACHINE_VERSION },
    });
  }
  const { value, context } = parse(upgraded(stored));
  if (value !== stored.currentState) {
    throw new TurnlockError('SNAPSHOT_INVALID', {
      message: `snapshot and row differ: state of the session (found ${value}, wanted ${stored.currentState})`,
      details: { found: value, wanted: stored.currentState },
    });
  }
  return sessionMachine.resolveState({ value: value satisfies SessionState, context });
}

function parse(snapshot: unknown): StoredSnapshot {
  const parsed = storedSnapshot.safeParse(snapshot);
  if (parsed.success) return parsed.data;
  const paths = parsed.error.issues.map((issue) => `/${issue.path.join('/')}`);
  throw new TurnlockError('SNAPSHOT_INVALID', {
    message: `snapshot does not parse: session machine (found a problem at ${paths.join(', ')}, wanted the form of version ${SESSION_MACHINE_VERSION})`,
    details: { paths },
  });
}

/** What was stored, in the form of the present version. */
function upgraded({ machineVersion, snapshot }: StoredMachine): unknown {
  const steps = EARLIER_MACHINES.filter(({ version }) => version >= machineVersion);
  try {
    return steps.reduce((stored, step) => step.upgrade(stored), snapshot);
  } catch (cause) {
    throw new TurnlockError('SNAPSHOT_INVALID', {
      message: `snapshot cannot be upgraded: session machine (found one of version ${machineVersion} that its upgrade does not take, wanted version ${SESSION_MACHINE_VERSION})`,
      details: { found: machineVersion, wanted: SESSION_MACHINE_VERSION },
      cause,
    });
  }
}
