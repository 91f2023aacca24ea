import { expect, test } from 'vitest';
import { sessionGraph } from '../../machines/legal-graph.ts';
import { takenArrows } from './taken-arrows.ts';

/** Every `from event to` that the machine declares. */
const declared = sessionGraph.flatMap(({ from, to, on }) => on.map((event) => `${from} ${event} ${to}`));

test('every arrow of the machine can be taken, and no other: what it shows of itself is the truth', () => {
  expect([...takenArrows()].sort()).toEqual(declared.sort());
});
