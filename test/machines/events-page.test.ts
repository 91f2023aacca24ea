import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sessionGraph } from '../../machines/legal-graph.ts';
import { recordedEvent } from '../../machines/session-event.ts';
import { SESSION_STATES } from '../../machines/session-state.ts';
import { EVERY_EVENT, walk } from './random-events.ts';
import { walkOf } from './walk-of.ts';

const page = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');

/** Event → its section. */
const sections = new Map(
  page
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
);

/** Event → the arrows that the machine has for it, as the page writes them. */
function arrowsOf(event: string): string[] {
  return sessionGraph.filter(({ on }) => on.includes(event)).map(({ from, to }) => `${from} to ${to}`);
}

function line(event: string, name: string): string {
  return new RegExp(`^${name}: (.*)\\.$`, 'm').exec(sections.get(event) ?? '')?.[1] ?? '';
}

function fromLine(event: string): string[] {
  const text = line(event, 'From');
  if (text === 'every state but COMPLETED, to itself') {
    return SESSION_STATES.filter((state) => state !== 'COMPLETED').map((state) => `${state} to ${state}`);
  }
  return text.split('; ').flatMap((arrows) => {
    const [from, targets = ''] = arrows.split(' to ');
    return targets.split(', ').map((to) => `${from} to ${to}`);
  });
}

describe('docs/events.md', () => {
  test('has a section for every event of the machine, and for no other', () => {
    expect([...sections.keys()].sort()).toEqual([...EVERY_EVENT].sort());
    expect(new Set(sessionGraph.flatMap(({ on }) => on))).toEqual(new Set(EVERY_EVENT));
  });

  test.each(EVERY_EVENT)('%s: says from where to where', (event) => {
    expect(fromLine(event).sort()).toEqual(arrowsOf(event).sort());
  });

  test.each(EVERY_EVENT)('%s: says who causes it and what it means', (event) => {
    expect(line(event, 'Cause')).toMatch(/^`(user|worker|operator)`$/);
    const meaning = (sections.get(event) ?? '').split('\n\n')[1] ?? '';
    expect(meaning.length).toBeGreaterThan(20);
  });

  test('says what is recorded of each event, no more and no less', () => {
    const names = new Map<string, Set<string>>(EVERY_EVENT.map((event) => [event, new Set()]));
    for (const steps of fc.sample(walk, { numRuns: 150, seed: 1 })) {
      for (const { event } of walkOf(steps)) {
        for (const name of Object.keys(recordedEvent(event))) names.get(event.type)?.add(name);
      }
    }
    const documented = EVERY_EVENT.map((event) => [
      event,
      line(event, 'Recorded').replaceAll('`', '').split(', ').sort(),
    ]);
    const recorded = EVERY_EVENT.map((event) => [
      event,
      [...(names.get(event) ?? [])].filter((name) => name !== 'type').sort(),
    ]);
    expect(documented).toEqual(recorded);
  });
});

describe('the events', () => {
  const sources = globSync(['runtime/**/*.ts', 'adapters/**/*.ts', 'persistence/**/*.ts'])
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  const isCaused = (event: string) => sources.includes(`type: '${event}'`);

  test('every event has a place in the sources that causes it', () => {
    expect(EVERY_EVENT.filter((event) => !isCaused(event))).toEqual([]);
  });
});
