import { expect, test } from 'vitest';
import { sessionChart } from '../../../../adapters/inspector/chart/draw-session.ts';
import { SESSION_CHART } from '../../../../adapters/inspector/chart/session-chart.generated.ts';
import { sessionGraph } from '../../../../machines/legal-graph.ts';
import { SESSION_STATES } from '../../../../machines/session-state.ts';
import { layOutSession } from '../../../../scripts/draw-chart.ts';

test('the chart is what the session machine comes to, laid out: `npm run docs:chart` writes it anew', async () => {
  expect(SESSION_CHART).toEqual(await layOutSession());
});

test('every state is in the chart, and every pair of states with the events that lead from one to the other', () => {
  expect(SESSION_CHART.states.map(({ state }) => state).sort()).toEqual([...SESSION_STATES].sort());
  const drawn = SESSION_CHART.edges.map(({ from, to, on }) => ({ from, to, on: [...on] }));
  const loops = SESSION_CHART.states.map(({ state, loops }) => ({ from: state, to: state, on: [...loops] }));
  const pairs = sessionGraph
    .filter(({ on }) => on.length > 0)
    .map(({ on, ...pair }) => ({ ...pair, on: [...on].sort() }));
  const all = [...drawn, ...loops.filter(({ on }) => on.length > 0)];
  expect(all).toHaveLength(pairs.length);
  expect(all).toEqual(expect.arrayContaining(pairs));
});

test('no two states overlap, and all of them lie within the picture', () => {
  const { width, height, stateWidth, stateHeight, states } = SESSION_CHART;
  const overlapping = states.flatMap((one, place) =>
    states.slice(place + 1).filter(({ x, y }) => Math.abs(x - one.x) < stateWidth && Math.abs(y - one.y) < stateHeight),
  );
  expect(overlapping).toEqual([]);
  const outside = states.filter(({ x, y }) => x < 0 || y < 0 || x + stateWidth > width || y + stateHeight > height);
  expect(outside).toEqual([]);
});

test('the state that the session is in and the way that it came are lit, and no other', () => {
  const drawn = sessionChart('PLANNING', { from: 'IDLE', to: 'PLANNING', type: 'user.messaged' }).toString();
  expect(drawn.match(/data-state="(\w+)" data-active="true"/g)).toEqual(['data-state="PLANNING" data-active="true"']);
  expect(drawn.match(/data-edge="[^"]+" data-lit="true"/g)).toEqual(['data-edge="IDLE PLANNING" data-lit="true"']);
  expect(drawn).not.toContain('data-loop="true"');
  expect(drawn).toContain('user.messaged took it from IDLE to PLANNING.');
});

test('an event that leaves the state as it was marks the state, and no way', () => {
  const taken = { from: 'AWAITING_INPUT', to: 'AWAITING_INPUT', type: 'approval.granted' } as const;
  const drawn = sessionChart('AWAITING_INPUT', taken).toString();
  expect(drawn.match(/data-state="(\w+)" data-active="true" data-loop="true"/)?.[1]).toBe('AWAITING_INPUT');
  expect(drawn).not.toContain('data-lit="true"');
});

test('the name of an event that is no name is escaped', () => {
  const drawn = sessionChart('IDLE', { from: 'FAILED', to: 'IDLE', type: '<script>alert(1)</script>' }).toString();
  expect(drawn).not.toContain('<script>');
  expect(drawn).toContain('&lt;script&gt;');
});

test('nothing of it is styled but by the stylesheet, as its policy asks', () => {
  expect(sessionChart('IDLE', null).toString()).not.toMatch(/<style| style=| fill=| stroke=| on\w+=/);
});
