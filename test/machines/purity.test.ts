import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { nextSnapshot } from '../../machines/next-snapshot.ts';
import { sessionMachine } from '../../machines/session.machine.ts';
import type { SessionEvent } from '../../machines/session-event.ts';
import { encodeSnapshot, initialSnapshot } from '../../machines/snapshot-codec.ts';
import { toolExecutionMachine } from '../../machines/tool-execution.machine.ts';
import { findImports, withoutComments } from '../../scripts/find-imports.ts';
import { findImpurities } from '../../scripts/find-impurities.ts';
import { becameUnknown, calledTools, messaged, planned, settledByPerson, started } from './sample-events.ts';

const folder = new URL('../../machines/', import.meta.url);
const sources = new Map(
  readdirSync(folder).map((name) => [`machines/${name}`, readFileSync(new URL(name, folder), 'utf8')]),
);

/** What a pure function has no use for, beyond what the checker of the whole product refuses. */
const IMPURE =
  /\b(?:Date|Math\.random|crypto|performance|globalThis|fetch|console|Intl|localeCompare|toLocale\w+|queueMicrotask|WeakRef)\b|\b(?:invoke|after|delay|delays|actors)\s*:|\b(?:spawn|spawnChild|sendTo|raise|emit|fromCallback|fromObservable)\b/;

describe('the sources of the machines', () => {
  test.each([...sources.keys()])('%s reads no clock, no chance, no locale, and starts nothing', (path) => {
    const text = sources.get(path) ?? '';
    expect(findImpurities(new Map([[path, text]]))).toEqual([]);
    const found = withoutComments(text)
      .split('\n')
      .filter((line) => IMPURE.test(line));
    expect(found).toEqual([]);
  });

  test('import XState, Zod and each other, and nothing that does I/O', () => {
    const specifiers = new Set([...sources.values()].flatMap(findImports).map(({ specifier }) => specifier));
    const foreign = [...specifiers].filter((specifier) => !specifier.startsWith('./'));
    expect(foreign.sort()).toEqual(['../errors.ts', 'xstate', 'zod']);
  });

  test('the check finds what it is for', () => {
    for (const line of ['const now = new Date(event.at);', 'after: { 5: x }', 'invoke: {}', 'a.localeCompare(b)']) {
      expect(IMPURE.test(line), line).toBe(true);
    }
  });
});

describe('the machines as XState holds them', () => {
  test.each([
    ['session', sessionMachine],
    ['toolExecution', toolExecutionMachine],
  ])('%s invokes nothing, has no timer, and no effect on entry or exit', (_name, machine) => {
    for (const node of Object.values(machine.states)) {
      expect([node.invoke, node.after, node.always, node.entry, node.exit]).toEqual([[], [], undefined, [], []]);
    }
    expect(machine.implementations.actors).toEqual({});
    expect(machine.implementations.delays).toEqual({});
  });
});

describe('a transition', () => {
  afterEach(() => vi.restoreAllMocks());

  const events: SessionEvent[] = [
    messaged,
    calledTools(planned(0), planned(1, { verdict: 'queue' })),
    becameUnknown('call-0'),
    settledByPerson('call-0', 'runAgain'),
    started('call-0', 2),
  ];

  test('asks neither clock nor chance, and gives the same twice', () => {
    const refuse = () => {
      throw new Error('a machine asked for what is not in snapshot and event');
    };
    vi.spyOn(Date, 'now').mockImplementation(refuse);
    vi.spyOn(Math, 'random').mockImplementation(refuse);
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(refuse as never);
    const [first, second] = [0, 1].map(() => encodeSnapshot(events.reduce(nextSnapshot, initialSnapshot())));
    expect(first).toEqual(second);
  });

  test('leaves snapshot and event as they were', () => {
    const snapshot = events.slice(0, 2).reduce(nextSnapshot, initialSnapshot());
    const before = JSON.stringify([encodeSnapshot(snapshot), events]);
    nextSnapshot(snapshot, events[2] as SessionEvent);
    expect(JSON.stringify([encodeSnapshot(snapshot), events])).toBe(before);
  });
});
