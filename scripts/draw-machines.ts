import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { EXECUTION_STATUSES } from '../machines/execution-status.ts';
import {
  acceptedEvents,
  executionGraph,
  FLOW_ONLY_PAIRS,
  type LegalPair,
  sessionGraph,
} from '../machines/legal-graph.ts';
import { SESSION_STATES } from '../machines/session-state.ts';

/** The page that holds what is drawn. */
export const MACHINES_PAGE = new URL('../docs/machines.md', import.meta.url);

/** `page` with the text between each pair of `<!-- drawn: name -->` and `<!-- /drawn -->` drawn anew from the machines. */
export function drawMachines(page: string): string {
  return page.replace(/<!-- drawn: (\S+) -->[\s\S]*?<!-- \/drawn -->/g, (_match, name: string) => {
    const draw = DRAWINGS[name];
    if (draw === undefined) throw new Error(`no drawing has this name: ${name}`);
    return `<!-- drawn: ${name} -->\n\n${draw()}\n\n<!-- /drawn -->`;
  });
}

const DRAWINGS: Record<string, () => string> = {
  'session-picture': () =>
    picture(
      sessionGraph.filter(({ from, to }) => from !== to),
      { initial: 'IDLE', final: ['COMPLETED'] },
    ),
  'session-table': () => table(SESSION_STATES, sessionGraph, eventsOfEveryState()),
  'every-state': () => listed(eventsOfEveryState()),
  'flow-pairs': () => FLOW_ONLY_PAIRS.map(({ from, to }) => `${from} → ${to}`).join(', '),
  'execution-picture': () => picture(executionGraph, { initial: 'PENDING', final: ['SUCCESS', 'FAILED'] }),
  'execution-table': () => table(EXECUTION_STATUSES, executionGraph, []),
};

/** The names of {@link DRAWINGS}. */
export const DRAWING_NAMES = Object.keys(DRAWINGS);

/** What loops in every state but COMPLETED and leads nowhere else: said once, in words, since it would hide all else. */
function eventsOfEveryState(): string[] {
  const takers = SESSION_STATES.filter((state) => acceptedEvents(state).length > 0);
  const leads = sessionGraph.filter(({ from, to }) => from !== to).flatMap(({ on }) => on);
  const everywhere = acceptedEvents('IDLE').filter((event) =>
    takers.every((state) => acceptedEvents(state).includes(event)),
  );
  return everywhere.filter((event) => !leads.includes(event));
}

function picture(pairs: readonly LegalPair<string>[], ends: { initial: string; final: string[] }): string {
  const arrows = pairs
    .filter(({ on }) => on.length > 0)
    .map(({ from, to, on }) => `  ${from} --> ${to}: ${on.join('<br/>')}`);
  const lines = [`  [*] --> ${ends.initial}`, ...arrows, ...ends.final.map((state) => `  ${state} --> [*]`)];
  return ['```mermaid', 'stateDiagram-v2', ...lines, '```'].join('\n');
}

function table(states: readonly string[], pairs: readonly LegalPair<string>[], without: string[]): string {
  const rows = states.flatMap((from) =>
    states.flatMap((to) => {
      const on = pairs.filter((pair) => pair.from === from && pair.to === to).flatMap((pair) => pair.on);
      const shown = on.filter((event) => !without.includes(event));
      return shown.length === 0 ? [] : [`| ${from} | ${to} | ${listed(shown)} |`];
    }),
  );
  return ['| from | to | on |', '|---|---|---|', ...rows].join('\n');
}

function listed(events: string[]): string {
  return events.map((event) => `\`${event}\``).join(', ');
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(MACHINES_PAGE, drawMachines(readFileSync(MACHINES_PAGE, 'utf8')));
}
