import { pathToFileURL } from 'node:url';
import { EXECUTION_STATUSES } from '../machines/execution-status.ts';
import { executionGraph, sessionGraph } from '../machines/legal-graph.ts';
import { SESSION_STATES } from '../machines/session-state.ts';

/** The SQL that a migration writes out: the values of both CHECK constraints, and the legal pairs as a CASE. */
export interface GuardSql {
  readonly sessionStates: string;
  readonly executionStatuses: string;
  readonly sessionPairs: string;
  readonly executionPairs: string;
}

/** {@link GuardSql} of the machines as they are now. */
export function generateGuards(): GuardSql {
  return {
    sessionStates: list(SESSION_STATES),
    executionStatuses: list(EXECUTION_STATUSES),
    sessionPairs: pairs({ values: SESSION_STATES, graph: sessionGraph, from: 'from_state', to: 'to_state' }),
    executionPairs: pairs({ values: EXECUTION_STATUSES, graph: executionGraph, from: 'from_status', to: 'to_status' }),
  };
}

function pairs(input: {
  values: readonly string[];
  graph: readonly { from: string; to: string }[];
  from: string;
  to: string;
}): string {
  const { values, graph, from, to } = input;
  const arms = values.flatMap((value) => {
    const targets = values.filter((target) => graph.some((pair) => pair.from === value && pair.to === target));
    return targets.length === 0 ? [] : [`  WHEN '${value}' THEN ${to} IN (${list(targets)})`];
  });
  return [`CASE ${from}`, ...arms, '  ELSE false', 'END'].join('\n');
}

function list(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(', ');
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const [name, sql] of Object.entries(generateGuards())) console.log(`-- ${name}\n${sql}\n`);
}
