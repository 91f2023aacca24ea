import { describe, expect, test } from 'vitest';
import { isTurnlockError, type TurnlockError } from '../../errors.ts';
import { nextSnapshot } from '../../machines/next-snapshot.ts';
import {
  decodeSnapshot,
  encodeSnapshot,
  initialSnapshot,
  type SessionSnapshot,
  type StoredMachine,
} from '../../machines/snapshot-codec.ts';
import { STORED_VALUES } from '../support/odd-values.ts';
import {
  becameUnknown,
  calledTools,
  completed,
  messaged,
  modelFailed,
  planned,
  replied,
  result,
  settled,
  tookOver,
} from './sample-events.ts';
import { snapshotAfter } from './snapshot-after.ts';

const snapshots: Record<string, SessionSnapshot> = {
  IDLE: initialSnapshot(),
  'IDLE after a run': snapshotAfter(messaged, replied),
  PLANNING: snapshotAfter(messaged),
  EXECUTING_TOOL: snapshotAfter(messaged, calledTools(planned(0), planned(1, { verdict: 'queue' }))),
  'AWAITING_INPUT, unknown': snapshotAfter(messaged, calledTools(planned(0)), becameUnknown('call-0')),
  'AWAITING_INPUT, a question': snapshotAfter(
    messaged,
    calledTools(planned(0, { verdict: 'ask', waitsFor: 'answer' })),
  ),
  COMPLETED: snapshotAfter(completed),
  'COMPLETED by a reply': snapshotAfter(messaged, { ...replied, final: true }),
  FAILED: snapshotAfter(messaged, modelFailed),
};

describe('a snapshot survives its row', () => {
  test.each(Object.keys(snapshots))('%s', (name) => {
    const snapshot = snapshots[name] as SessionSnapshot;
    const stored = encodeSnapshot(snapshot);
    const read = JSON.parse(JSON.stringify(stored));
    expect(read).toEqual(stored);
    const decoded = decodeSnapshot(rowOf(snapshot, read));
    expect([decoded.value, decoded.context, decoded.status]).toEqual([
      snapshot.value,
      snapshot.context,
      snapshot.status,
    ]);
    expect(encodeSnapshot(decoded)).toEqual(stored);
    expect(decoded.can(tookOver)).toBe(snapshot.can(tookOver));
  });

  test('and behaves as it did', () => {
    const snapshot = snapshots.EXECUTING_TOOL as SessionSnapshot;
    const decoded = decodeSnapshot(rowOf(snapshot, JSON.parse(JSON.stringify(encodeSnapshot(snapshot)))));
    const event = settled(result('call-0', { outcome: 'failed' }));
    expect(encodeSnapshot(nextSnapshot(decoded, event))).toEqual(encodeSnapshot(nextSnapshot(snapshot, event)));
  });

  test('of a version that was released stays readable', () => {
    const stored = {
      value: 'EXECUTING_TOOL',
      context: {
        runId: '0198c5f0-0000-7000-8000-000000000001',
        nextTurnIndex: 2,
        modelCalls: 1,
        failedModelAttempts: 0,
        callTurnIndex: 1,
        failureCode: null,
        calls: [
          {
            executionId: '0198c5f0-0000-7000-8000-000000000002',
            ordinals: [0, 1],
            status: 'RUNNING',
            attempt: 1,
            waitsFor: null,
            unknownReason: null,
            runAgain: false,
          },
        ],
      },
    };
    const row = { machineId: 'session', machineVersion: 1, currentState: 'EXECUTING_TOOL', snapshot: stored };
    expect(encodeSnapshot(decodeSnapshot(row))).toEqual(stored);
  });
});

describe('C64 a snapshot that is garbage', () => {
  test.each<[string, unknown, string[]]>([
    ['nothing', null, ['/']],
    ['text', 'IDLE', ['/']],
    ['an empty object', {}, ['/value', '/context']],
    ['no such state', { ...stored('IDLE'), value: 'THINKING' }, ['/value']],
    ['a field too many', { ...stored('IDLE'), children: {} }, ['/']],
    ['a fraction of a turn', change('IDLE', { nextTurnIndex: 0.5 }), ['/context/nextTurnIndex']],
    ['a count below zero', change('PLANNING', { modelCalls: -1 }), ['/context/modelCalls']],
    ['two faults', change('PLANNING', { runId: '', calls: {} }), ['/context/runId', '/context/calls']],
    ['a call without its status', changeCall({ status: undefined }), ['/context/calls/0/status']],
    ['a call without a place', changeCall({ ordinals: [] }), ['/context/calls/0/ordinals']],
    ['a call of no known status', changeCall({ status: 'DONE' }), ['/context/calls/0/status']],
    ['tools to run and no call', change('EXECUTING_TOOL', { calls: [] }), ['/context/calls']],
    ['tools to run and only settled calls', changeCall({ status: 'SUCCESS' }), ['/context/calls']],
    [
      'a call that waits, and no state of waiting',
      changeCall({ status: 'PENDING', waitsFor: 'approval' }),
      ['/context/calls'],
    ],
    ['open calls of nobody', change('EXECUTING_TOOL', { callTurnIndex: null }), ['/context/callTurnIndex']],
    ['a run that nobody knows', change('PLANNING', { runId: null }), ['/context/runId']],
    ['a turn with calls where there are none', change('IDLE', { callTurnIndex: 3 }), ['/context/callTurnIndex']],
  ])('%s', (_title, snapshot, paths) => {
    const currentState = (snapshot as { value?: string } | null)?.value ?? 'IDLE';
    const error = refusalOf({ machineId: 'session', machineVersion: 1, currentState, snapshot });
    expect(error.code).toBe('SNAPSHOT_INVALID');
    expect(error.details).toEqual({ paths });
    for (const path of paths) expect(error.message).toContain(path);
  });

  test('a state that differs from the row', () => {
    const row = { ...rowOf(snapshotAfter(messaged), stored('PLANNING')), currentState: 'IDLE' };
    expect(refusalOf(row)).toMatchObject({
      code: 'SNAPSHOT_INVALID',
      message: expect.stringContaining('found PLANNING, wanted IDLE'),
      details: { found: 'PLANNING', wanted: 'IDLE' },
    });
  });
});

describe('C36 C64 an odd value in a snapshot, as its row holds it', () => {
  const FIELDS = Object.keys(stored('EXECUTING_TOOL').context);
  const FIELDS_OF_CALL = Object.keys((stored('EXECUTING_TOOL').context.calls as object[])[0]!);
  const places: [name: string, put: (value: unknown) => unknown][] = [
    ['the whole', (value) => value],
    ['the state', (value) => ({ ...stored('EXECUTING_TOOL'), value })],
    ['the context', (value) => ({ ...stored('EXECUTING_TOOL'), context: value })],
    ['one more field', (value) => change('EXECUTING_TOOL', { more: value })],
    ...FIELDS.map((field) => [field, (value: unknown) => change('EXECUTING_TOOL', { [field]: value })] as never),
    ...FIELDS_OF_CALL.map(
      (field) => [`${field} of a call`, (value: unknown) => changeCall({ [field]: value })] as never,
    ),
  ];

  test.each(places)('in the place of %s is refused with its path, or is what was given', (_name, put) => {
    for (const { name, fate } of STORED_VALUES) {
      const row = {
        machineId: 'session',
        machineVersion: 1,
        currentState: 'EXECUTING_TOOL',
        snapshot: put(fate.stored),
      };
      let decoded: unknown;
      try {
        decoded = encodeSnapshot(decodeSnapshot(row));
      } catch (error) {
        if (!isTurnlockError(error, 'SNAPSHOT_INVALID')) throw error;
        expect(error.details.paths, name).toContainEqual(expect.stringMatching('^/'));
        continue;
      }
      expect(JSON.stringify(decoded), name).toBe(JSON.stringify(put(fate.stored)));
    }
  });
});

describe('C64 a snapshot of another version', () => {
  test.each([
    ['session', 2],
    ['session', 0],
    ['flow', 1],
  ])('%s %i is left alone, whatever it holds', (machineId, machineVersion) => {
    const error = refusalOf({ machineId, machineVersion, currentState: 'IDLE', snapshot: { of: 'the future' } });
    expect(error).toMatchObject({
      code: 'MACHINE_VERSION_UNSUPPORTED',
      details: { machineId, found: machineVersion, wanted: 1 },
    });
  });
});

function rowOf(snapshot: SessionSnapshot, read: unknown): StoredMachine {
  return { machineId: 'session', machineVersion: 1, currentState: snapshot.value, snapshot: read };
}

function stored(name: keyof typeof snapshots): { value: string; context: Record<string, unknown> } {
  return JSON.parse(JSON.stringify(encodeSnapshot(snapshots[name] as SessionSnapshot)));
}

function change(name: keyof typeof snapshots, context: object): unknown {
  const snapshot = stored(name);
  return { ...snapshot, context: { ...snapshot.context, ...context } };
}

/** EXECUTING_TOOL with one call, changed. */
function changeCall(changes: object): unknown {
  const [first = {}] = stored('EXECUTING_TOOL').context.calls as object[];
  return change('EXECUTING_TOOL', { calls: [{ ...first, ...changes }] });
}

function refusalOf(row: StoredMachine): TurnlockError {
  try {
    decodeSnapshot(row);
  } catch (error) {
    expect(isTurnlockError(error)).toBe(true);
    return error as TurnlockError;
  }
  throw new Error('nothing was refused');
}
