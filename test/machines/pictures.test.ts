import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DRAWING_NAMES, drawMachines, MACHINES_PAGE } from '../../scripts/draw-machines.ts';

const page = readFileSync(MACHINES_PAGE, 'utf8');

test('docs/machines.md shows the machines as they are; after a change run node scripts/draw-machines.ts', () => {
  expect(page).toBe(drawMachines(page));
});

test('every drawing stands on the page once', () => {
  expect([...page.matchAll(/<!-- drawn: (\S+) -->/g)].map(([, name]) => name)).toEqual(DRAWING_NAMES);
});

test('a drawing replaces what stood in its place and nothing else', () => {
  const drawn = drawMachines(
    'before\n<!-- drawn: flow-pairs --><!-- /drawn -->\nbetween\n<!-- drawn: every-state -->old<!-- /drawn -->',
  );
  expect(drawn).toMatch(/^before\n<!-- drawn: flow-pairs -->\n\nIDLE → EXECUTING_TOOL, /);
  expect(drawn).toContain('<!-- /drawn -->\nbetween\n<!-- drawn: every-state -->\n\n`content.erased`');
  expect(drawn).not.toContain('old');
  expect(drawMachines(drawn)).toBe(drawn);
});

test('a name that nothing draws is an error', () => {
  expect(() => drawMachines('<!-- drawn: moon --><!-- /drawn -->')).toThrow('moon');
});
