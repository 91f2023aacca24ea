import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import elk, { type ElkExtendedEdge, type ElkNode, type ElkPoint } from 'elkjs/lib/elk.bundled.js';
import type { ChartEdge, ChartLayout } from '../adapters/inspector/chart/chart-layout.ts';
import { sessionGraph } from '../machines/legal-graph.ts';
import type { SessionState } from '../machines/session-state.ts';

/** The file that holds what is laid out. */
export const CHART_FILE = new URL('../adapters/inspector/chart/session-chart.generated.ts', import.meta.url);

/** From the top: the order in which most runs come by them. */
const STATES: readonly SessionState[] = ['IDLE', 'PLANNING', 'EXECUTING_TOOL', 'AWAITING_INPUT', 'FAILED', 'COMPLETED'];

const STATE_WIDTH = 168;
const STATE_HEIGHT = 46;
/** Around the whole. */
const MARGIN = 12;
/** Of the corners of a line. */
const RADIUS = 7;
const HEAD = { length: 8, half: 4.5 };

/** One column, so that it fits beside a timeline and on a phone. What is said of an edge stands in its title, not on the picture. */
const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.padding': `[top=${MARGIN},left=${MARGIN},bottom=${MARGIN},right=${MARGIN}]`,
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.spacing.nodeNodeBetweenLayers': '46',
  'elk.spacing.nodeNode': '40',
  'elk.spacing.edgeEdge': '14',
  'elk.spacing.edgeNode': '20',
  'elk.layered.spacing.edgeNodeBetweenLayers': '20',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '14',
};

/** The session machine's graph, laid out: every pair of states that an event of its own leads between. */
export async function layOutSession(): Promise<ChartLayout> {
  const pairs = sessionGraph.filter(({ from, to, on }) => from !== to && on.length > 0);
  const laidOut: ElkNode = await new elk.default().layout({
    id: 'session',
    layoutOptions: OPTIONS,
    children: STATES.map((id) => ({ id, width: STATE_WIDTH, height: STATE_HEIGHT })),
    edges: pairs.map(({ from, to }) => ({ id: `${from} ${to}`, sources: [from], targets: [to] })),
  });
  const nodes = new Map(laidOut.children?.map((node) => [node.id, node]));
  const edges = new Map(laidOut.edges?.map((edge) => [edge.id, edge]));
  return {
    width: Math.ceil(laidOut.width ?? 0),
    height: Math.ceil(laidOut.height ?? 0),
    stateWidth: STATE_WIDTH,
    stateHeight: STATE_HEIGHT,
    states: STATES.map((state) => {
      const loop = sessionGraph.find(({ from, to }) => from === state && to === state);
      const { x = 0, y = 0 } = nodes.get(state) ?? {};
      return { state, x: rounded(x), y: rounded(y), loops: [...(loop?.on ?? [])].sort() };
    }),
    edges: pairs.map(({ from, to, on }) => ({
      from,
      to,
      on: [...on].sort(),
      ...drawn(pointsOf(edges.get(`${from} ${to}`))),
    })),
  };
}

function pointsOf(edge: ElkExtendedEdge | undefined): ElkPoint[] {
  return (edge?.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
    startPoint,
    ...bendPoints,
    endPoint,
  ]);
}

/** A line along `points` with round corners, which ends where the head of its arrow begins. */
function drawn(points: readonly ElkPoint[]): Pick<ChartEdge, 'path' | 'head'> {
  const [tip, before] = [points.at(-1) as ElkPoint, points.at(-2) as ElkPoint];
  const base = towards(tip, before, HEAD.length);
  const line = [...points.slice(0, -1), base];
  const parts = line.map((point, place) => {
    const [last, next] = [line[place - 1], line[place + 1]];
    if (last === undefined) return `M${written(point)}`;
    if (next === undefined) return `L${written(point)}`;
    const radius = Math.min(RADIUS, distance(last, point) / 2, distance(point, next) / 2);
    return `L${written(towards(point, last, radius))}Q${written(point)} ${written(towards(point, next, radius))}`;
  });
  const [dx, dy] = [(tip.x - base.x) / HEAD.length, (tip.y - base.y) / HEAD.length];
  const sides = [1, -1].map((side) => ({ x: base.x - dy * HEAD.half * side, y: base.y + dx * HEAD.half * side }));
  return { path: parts.join(''), head: `M${[tip, ...sides].map(written).join('L')}Z` };
}

function towards(from: ElkPoint, to: ElkPoint, length: number): ElkPoint {
  const share = length / (distance(from, to) || 1);
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

function distance(one: ElkPoint, other: ElkPoint): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}

function written({ x, y }: ElkPoint): string {
  return `${rounded(x)} ${rounded(y)}`;
}

function rounded(length: number): number {
  return Math.round(length * 10) / 10;
}

/** The source of the file that holds `layout`. */
export function chartSource(layout: ChartLayout): string {
  return [
    '// Laid out from the session machine by `npm run docs:chart`; a test lays it out anew and compares.',
    "import type { ChartLayout } from './chart-layout.ts';",
    '',
    '/** The session machine, laid out. */',
    `export const SESSION_CHART: ChartLayout = ${JSON.stringify(layout, null, 2)};`,
    '',
  ].join('\n');
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(CHART_FILE, chartSource(await layOutSession()));
}
