import type { SessionState } from '../../machines/session-state.ts';
import type { ParkedCall } from '../../persistence/read-parked-calls.ts';
import type { Standing } from '../../persistence/standing.ts';

/** What is in the way of a deploy. */
export const PREFLIGHT_PROBLEMS = {
  schemaChanged:
    'Another input schema under the same version of a tool: the build does not start (TOOL_SCHEMA_CHANGED).',
  agentMissing: 'Sessions of agents that the build does not have: nobody goes on with them.',
  newer: 'Sessions that a newer build has gone on with: this one leaves them alone.',
  unreadable: 'Sessions whose snapshot cannot be read.',
  toolMissing: 'Open calls of tools that the build does not have: a person is asked (TOOL_UNKNOWN).',
  upgradeFails: 'Open calls whose params cannot be upgraded: a person is asked (UPGRADE_FAILED).',
  keyMoves:
    'Calls that have not begun and whose business key is another one by the build: they take it when they start, and do not run where another call has it.',
  approvalVoided:
    'Calls with other params after the upgrade than a person sees or has approved: a person is asked anew.',
} as const;

/** The name of something that is in the way. */
export type PreflightProblem = keyof typeof PREFLIGHT_PROBLEMS;

/** Where a problem was met, as far as it applies. */
export interface PreflightExample {
  tenantId?: string;
  sessionId?: string;
  executionId?: string;
  agent: string;
  tool?: string;
  /** Of the tool where one is named, else of the agent. */
  version: number;
  /** What is newer. */
  newer?: string;
  why?: string;
}

/** What a build would do with what is parked. */
export interface PreflightReport {
  /** Sessions that are not over. */
  sessions: number;
  /** Them by agent, its version and that of the machine. */
  parked: {
    agent: string;
    agentVersion: number;
    machineVersion: number;
    states: Partial<Record<SessionState, number>>;
  }[];
  /** Their open calls by agent, tool and version; `buildVersion` is that of the build's tool, `null` where it has none. */
  calls: { agent: string; tool: string; version: number; buildVersion: number | null; count: number }[];
  /** What is in the way, with the first few places where it was met. Empty: nothing is. */
  problems: { problem: PreflightProblem; says: string; count: number; examples: PreflightExample[] }[];
}

/** Places of one problem that are named. */
const MAX_EXAMPLES = 10;

/** Counts what is seen. As large as the number of agents, versions and tools. */
export class Tally {
  #sessions = 0;
  readonly #parked = new Map<string, PreflightReport['parked'][number]>();
  readonly #calls = new Map<string, PreflightReport['calls'][number]>();
  readonly #problems = new Map<PreflightProblem, { count: number; examples: PreflightExample[] }>();

  session({ agent, agentVersion, machineVersion, state }: Standing): void {
    this.#sessions += 1;
    const key = JSON.stringify([agent, agentVersion, machineVersion]);
    const group = this.#parked.get(key) ?? { agent, agentVersion, machineVersion, states: {} };
    group.states[state] = (group.states[state] ?? 0) + 1;
    this.#parked.set(key, group);
  }

  call(agent: string, { toolName: tool, version }: ParkedCall, buildVersion: number | null): void {
    const key = JSON.stringify([agent, tool, version]);
    const group = this.#calls.get(key) ?? { agent, tool, version, buildVersion, count: 0 };
    group.count += 1;
    this.#calls.set(key, group);
  }

  problem(problem: PreflightProblem, example: PreflightExample): void {
    const known = this.#problems.get(problem) ?? { count: 0, examples: [] };
    known.count += 1;
    if (known.examples.length < MAX_EXAMPLES) known.examples.push(example);
    this.#problems.set(problem, known);
  }

  end(): PreflightReport {
    const names = Object.keys(PREFLIGHT_PROBLEMS) as PreflightProblem[];
    return {
      sessions: this.#sessions,
      parked: inOrder([...this.#parked]),
      calls: inOrder([...this.#calls]),
      problems: names.flatMap((problem) => {
        const met = this.#problems.get(problem);
        return met === undefined ? [] : [{ problem, says: PREFLIGHT_PROBLEMS[problem], ...met }];
      }),
    };
  }
}

function inOrder<Group>(groups: [key: string, group: Group][]): Group[] {
  return groups.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}
