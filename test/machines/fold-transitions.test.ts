import { describe, expect, test } from 'vitest';
import { beginFold, endFold, type FoldedTransition, foldTransitions } from '../../machines/fold-transitions.ts';
import { nextSnapshot } from '../../machines/next-snapshot.ts';
import { type RecordedEvent, recordedEvent, type SessionEvent } from '../../machines/session-event.ts';
import { encodeSnapshot, initialSnapshot } from '../../machines/snapshot-codec.ts';
import { calledTools, messaged, planned, replied, result, settled } from './sample-events.ts';

const EVENTS = [messaged, calledTools(planned(0)), settled(result('call-0')), replied];

/** The rows of a life, and the snapshot at its end. */
function rowsOf(events: readonly SessionEvent[]): { rows: FoldedTransition[]; snapshot: object } {
  let snapshot = initialSnapshot();
  const rows = events.map((event, place): FoldedTransition => {
    const before = snapshot;
    snapshot = nextSnapshot(before, event);
    const recorded = JSON.parse(JSON.stringify(recordedEvent(event))) as RecordedEvent;
    return { sequence: place + 1, from: before.value, to: snapshot.value, type: event.type, event: recorded };
  });
  return { rows, snapshot: JSON.parse(JSON.stringify(encodeSnapshot(snapshot))) };
}

function fold(rows: readonly FoldedTransition[], snapshot: unknown, machineVersion = 1) {
  return endFold(foldTransitions(beginFold(1), rows), { machineVersion, snapshot });
}

const { rows, snapshot } = rowsOf(EVENTS);

/** `rows` with one of them changed. */
const changed = (place: number, change: Partial<FoldedTransition>) =>
  rows.map((row, index) => (index === place ? { ...row, ...change } : row));

test('a life is reproduced, in one piece and page by page', () => {
  expect(fold(rows, snapshot)).toMatchObject({ folded: 4, skipped: 0, loss: null, findings: [] });
  const pages = rows.map((row) => [row]);
  const paged = pages.reduce(foldTransitions, beginFold(1));
  expect(endFold(paged, { machineVersion: 1, snapshot })).toEqual(fold(rows, snapshot));
});

test('a fold is a value: what was folded before stays as it was', () => {
  const half = foldTransitions(beginFold(1), rows.slice(0, 2));
  const before = JSON.stringify(half);
  foldTransitions(half, rows.slice(2));
  expect(JSON.stringify(half)).toBe(before);
});

describe('what a fold finds', () => {
  test('an event that the machine does not take: nothing after it is folded', () => {
    const folded = fold(changed(1, { event: { ...rows[1]!.event!, runId: 'run-of-others' } }), snapshot);
    expect(folded).toMatchObject({ folded: 1, skipped: 3, loss: 'illegal' });
    expect(folded.findings).toMatchObject([
      { code: 'EVENT_ILLEGAL', sequence: 2, wanted: expect.stringContaining('PLANNING') },
    ]);
  });

  test.each([{ type: 'model.calledTools' }, { type: 'model.calledTools', runId: 'run-1', calls: null }] as const)(
    'an event that cannot be read: %j',
    (event) => {
      const { findings, loss } = fold(changed(1, { event: event as never }), snapshot);
      expect([findings.map(({ code }) => code), loss]).toEqual([['EVENT_ILLEGAL'], 'illegal']);
    },
  );

  test('a row that names another event than its payload', () => {
    expect(fold(changed(0, { type: 'message.enqueued' }), snapshot).findings).toEqual([
      { code: 'EVENT_DIFFERS', sequence: 1, found: 'user.messaged', wanted: 'message.enqueued' },
    ]);
  });

  test('a row that says another state than the event leads to', () => {
    expect(fold(changed(3, { to: 'COMPLETED' }), snapshot).findings).toEqual([
      { code: 'STATE_DIFFERS', sequence: 4, found: 'COMPLETED', wanted: 'IDLE' },
    ]);
  });

  test('a row that begins where the one before it did not end', () => {
    expect(fold(changed(2, { from: 'AWAITING_INPUT' }), snapshot).findings).toEqual([
      { code: 'STATE_DIFFERS', sequence: 3, found: 'AWAITING_INPUT', wanted: 'EXECUTING_TOOL' },
    ]);
  });

  test('a snapshot that is another one than the transitions lead to, with what differs', () => {
    const { context } = snapshot as { context: object };
    const other = { ...snapshot, context: { ...context, nextTurnIndex: 9, more: true } };
    expect(fold(rows, other).findings).toEqual([
      {
        code: 'SNAPSHOT_DIFFERS',
        sequence: null,
        found: '/context/more true, /context/nextTurnIndex 9',
        wanted: '/context/more undefined, /context/nextTurnIndex 4',
      },
    ]);
    expect(fold(rows, null).findings).toMatchObject([{ code: 'SNAPSHOT_DIFFERS' }]);
    expect(fold(rows.slice(0, 2), snapshot).findings).toMatchObject([{ code: 'SNAPSHOT_DIFFERS' }]);
  });

  test('a machine version that no transition led to', () => {
    expect(fold(rows, snapshot, 7).findings).toMatchObject([
      { code: 'SNAPSHOT_DIFFERS', found: 'machine version 7', wanted: 'machine version 1' },
    ]);
  });

  test('no more than a hundred findings', () => {
    const bad = Array.from({ length: 300 }, (_, place) => ({ ...rows[0]!, sequence: place, type: 'no.such' }));
    expect(fold(bad, snapshot).findings).toHaveLength(100);
  });
});

describe('where a fold stands nowhere', () => {
  test('a payload that was erased is no finding; what comes after it is passed over, and the snapshot is not judged', () => {
    const folded = fold(changed(1, { event: null }), { not: 'compared' });
    expect(folded).toMatchObject({ folded: 1, skipped: 3, loss: 'erased', findings: [] });
  });

  test('it goes on from the whole snapshot of an upgrade', () => {
    const at = { sequence: 3, from: 'IDLE', to: 'IDLE', type: 'machine.upgraded' } as const;
    const event = { type: 'machine.upgraded', fromVersion: 0, toVersion: 1, snapshot } as const;
    const [first, second] = changed(0, { event: null });
    const begun = foldTransitions(beginFold(0), [first!, second!, { ...at, event }]);
    const folded = endFold(begun, { machineVersion: 1, snapshot });
    expect(folded).toMatchObject({ folded: 1, skipped: 2, loss: null, findings: [] });
  });

  test.each([
    [0, 'machineGone', []],
    [9, 'machineNewer', [{ code: 'MACHINE_NEWER', sequence: null, found: 'machine version 9' }]],
  ] as const)('a version of the machine that this build does not have: %i', (version, loss, findings) => {
    const folded = endFold(foldTransitions(beginFold(version), rows), { machineVersion: version, snapshot });
    expect(folded).toMatchObject({ folded: 0, skipped: 4, loss });
    expect(folded.findings).toMatchObject(findings);
    expect(folded.findings).toHaveLength(findings.length);
  });

  test.each([
    {},
    { fromVersion: 1 },
    { toVersion: 99 },
    { fromVersion: 1, toVersion: '99' },
    { fromVersion: 2, toVersion: 99 },
    { fromVersion: 1, toVersion: 1 },
    { fromVersion: 1, toVersion: 0 },
  ])('an upgrade that is none blinds nothing: %j', (versions) => {
    const at = { sequence: 5, from: 'IDLE', to: 'IDLE', type: 'machine.upgraded' } as const;
    const nonsense = { sequence: 6, from: 'IDLE', to: 'PLANNING', type: 'nonsense', event: { type: 'nonsense' } };
    const forged = { ...at, event: { type: 'machine.upgraded' as const, ...versions } };
    const folded = fold([...rows, forged, nonsense as never], snapshot);
    expect(folded.findings).toMatchObject([
      { code: 'UPGRADE_DIFFERS', sequence: 5 },
      { code: 'EVENT_ILLEGAL', sequence: 6 },
    ]);
  });

  test('an upgrade to a version of which the row of the session says nothing', () => {
    const at = { sequence: 5, from: 'IDLE', to: 'IDLE', type: 'machine.upgraded' } as const;
    const event = { type: 'machine.upgraded', fromVersion: 1, toVersion: 99, snapshot } as const;
    expect(fold([...rows, { ...at, event }], snapshot)).toMatchObject({
      loss: 'machineNewer',
      findings: [{ code: 'SNAPSHOT_DIFFERS', found: 'machine version 1', wanted: 'machine version 99' }],
    });
  });

  test('an upgrade that was erased: nobody knows the version, and the next one is taken as it is', () => {
    const at = { from: 'IDLE', to: 'IDLE', type: 'machine.upgraded' } as const;
    const event = { type: 'machine.upgraded', fromVersion: 0, toVersion: 1, snapshot } as const;
    const folded = fold([...rows, { ...at, sequence: 5, event: null }, { ...at, sequence: 6, event }], snapshot);
    expect(folded).toMatchObject({ loss: null, findings: [] });
  });

  test('an upgrade that does not parse', () => {
    const at = { sequence: 5, from: 'IDLE', to: 'IDLE', type: 'machine.upgraded' } as const;
    const upgrade = (given: unknown) =>
      ({ type: 'machine.upgraded', fromVersion: 0, toVersion: 1, snapshot: given }) as const;
    const erased = { ...at, sequence: 4, event: null };
    const garbage = fold([...rows, erased, { ...at, event: upgrade({}) }], snapshot);
    expect(garbage).toMatchObject({ loss: 'erased', findings: [{ code: 'UPGRADE_DIFFERS', sequence: 5 }] });
  });
});
