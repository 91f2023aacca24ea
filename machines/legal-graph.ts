import type { AnyStateMachine } from 'xstate';
import type { ExecutionStatus } from './execution-status.ts';
import { sessionMachine } from './session.machine.ts';
import type { SessionState } from './session-state.ts';
import { toolExecutionMachine } from './tool-execution.machine.ts';

/** One legal pair of states, with the events that lead from the one to the other. A loop has `from` equal to `to`. */
export interface LegalPair<State extends string> {
  from: State;
  to: State;
  on: string[];
}

/** Pairs that only a user's own flow takes; the session machine itself has no event for them. */
export const FLOW_ONLY_PAIRS = [
  { from: 'IDLE', to: 'EXECUTING_TOOL', on: [] },
  { from: 'IDLE', to: 'AWAITING_INPUT', on: [] },
  { from: 'EXECUTING_TOOL', to: 'COMPLETED', on: [] },
] satisfies LegalPair<SessionState>[];

/** Every legal transition of a session, loops and the pairs of flows included. The database's guard is written out from it. */
export const sessionGraph: readonly LegalPair<SessionState>[] = [
  ...pairsOf<SessionState>(sessionMachine),
  ...FLOW_ONLY_PAIRS,
];

/** Every legal change of an execution's status, loops included. SUCCESS and FAILED have none. */
export const executionGraph: readonly LegalPair<ExecutionStatus>[] = pairsOf<ExecutionStatus>(toolExecutionMachine);

/** Whether a session may go from `from` to `to`. */
export function isLegalTransition(from: SessionState, to: SessionState): boolean {
  return sessionGraph.some((pair) => pair.from === from && pair.to === to);
}

/** The names of the events that the session machine takes in `state`. */
export function acceptedEvents(state: SessionState): string[] {
  return [...new Set(sessionGraph.filter((pair) => pair.from === state).flatMap((pair) => pair.on))].sort();
}

function pairsOf<State extends string>(machine: AnyStateMachine): LegalPair<State>[] {
  const pairs = new Map<string, LegalPair<State>>();
  for (const [from, node] of Object.entries(machine.states)) {
    for (const [event, transitions] of node.transitions) {
      for (const { target } of transitions) {
        const to = target?.[0]?.key ?? from;
        const pair = pairs.get(`${from} ${to}`) ?? { from: from as State, to: to as State, on: [] };
        if (!pair.on.includes(event)) pair.on.push(event);
        pairs.set(`${from} ${to}`, pair);
      }
    }
  }
  return [...pairs.values()];
}
