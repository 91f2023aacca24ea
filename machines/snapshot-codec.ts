import { initialTransition, type SnapshotFrom } from 'xstate';
import { z } from 'zod';
import { TurnlockError } from '../errors.ts';
import { EXECUTION_STATUSES, UNKNOWN_REASONS } from './execution-status.ts';
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
});

/** The stored form of version 1: what the machine needs and nothing that XState keeps for itself. */
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

/**
 * The live snapshot of a session's row. XState restores whatever it is given, so everything is checked here.
 *
 * @throws MACHINE_VERSION_UNSUPPORTED when another machine, or a version that this build does not know, wrote it.
 * @throws SNAPSHOT_INVALID when it does not parse, or its state is not that of the row.
 */
export function decodeSnapshot(stored: StoredMachine): SessionSnapshot {
  if (stored.machineId !== SESSION_MACHINE_ID || stored.machineVersion !== SESSION_MACHINE_VERSION) {
    throw new TurnlockError('MACHINE_VERSION_UNSUPPORTED', {
      message: `machine version not known to this build: ${stored.machineId} (found ${stored.machineVersion}, wanted ${SESSION_MACHINE_VERSION})`,
      details: { machineId: stored.machineId, found: stored.machineVersion, wanted: SESSION_MACHINE_VERSION },
    });
  }
  const parsed = storedSnapshot.safeParse(stored.snapshot);
  if (!parsed.success) {
    const paths = parsed.error.issues.map((issue) => `/${issue.path.join('/')}`);
    throw new TurnlockError('SNAPSHOT_INVALID', {
      message: `snapshot does not parse: session machine (found a problem at ${paths.join(', ')}, wanted the form of version ${SESSION_MACHINE_VERSION})`,
      details: { paths },
    });
  }
  const { value, context } = parsed.data;
  if (value !== stored.currentState) {
    throw new TurnlockError('SNAPSHOT_INVALID', {
      message: `snapshot and row differ: state of the session (found ${value}, wanted ${stored.currentState})`,
      details: { found: value, wanted: stored.currentState },
    });
  }
  return sessionMachine.resolveState({ value: value satisfies SessionState, context });
}
