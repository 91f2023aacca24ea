import type { FaultKind } from '../faults/fault-plan.ts';
import type { CallRecord } from '../play/call-record.ts';
import type { SeenExecution } from '../subject.ts';

/** What came of the calls of one tool. Each is one of `succeeded`, `answered`, `failed`, `notRun` and `unknown`. */
export interface PlayedTool {
  /** Calls that models asked for and that were committed, also those that the kit made malformed. */
  calls: number;
  /** How often `execute` was called: never for some calls, more than once for those that were tried again. */
  attempts: number;
  /** How often `reconcile` was called. */
  reconciles: number;
  /** Calls that succeeded, also by the word of a person or of `reconcile`. */
  succeeded: number;
  /** Calls that were given the result of another one (`once`, `onRepeat`) in place of a run of their own. */
  answered: number;
  /** Calls for which `execute` was called, and that failed. */
  failed: number;
  /** Calls that failed without that, by the code of the reason, such as `POLICY_DENIED`, `APPROVAL_DENIED` or `PARAMS_INVALID`; see docs/errors.md. */
  notRun: { [code: string]: number };
  /** Calls of which nobody knows how they ended, and those that were not over when their run was. */
  unknown: number;
}

/** What {@link checkToolPolicy} really played. */
export interface PlayedTools {
  /** By the name of the tool: each one of `calls`, with zeros where it was never asked for. */
  tools: { [toolName: string]: PlayedTool };
  /** How often a fault of each kind struck. Those that are planned for a place to which nobody comes do not. */
  faults: Record<FaultKind, number>;
}

/** What is left of a run to count. */
export interface PlayedRun {
  executions: readonly SeenExecution[];
  calls: Pick<CallRecord, 'attemptsOf' | 'reconcilesOf'>;
  faults: PlayedTools['faults'];
}

/** Counts runs, one after the other. */
export class PlayedCount {
  readonly #tools: Map<string, PlayedTool>;
  readonly #faults = { crash: 0, stall: 0, disconnect: 0, timeout: 0 };

  constructor(toolNames: readonly string[]) {
    this.#tools = new Map(toolNames.map((name) => [name, noneOf()]));
  }

  /** Executions of other tools, and of none, do not count. */
  add({ executions, calls, faults }: PlayedRun): void {
    for (const execution of executions) {
      const tool = this.#tools.get(execution.toolName);
      if (tool === undefined) continue;
      const attempts = calls.attemptsOf(execution.executionId);
      tool.calls += 1;
      tool.attempts += attempts;
      tool.reconciles += calls.reconcilesOf(execution.executionId);
      count(tool, execution, attempts > 0);
    }
    for (const kind of Object.keys(this.#faults) as FaultKind[]) this.#faults[kind] += faults[kind];
  }

  get played(): PlayedTools {
    return { tools: Object.fromEntries(this.#tools), faults: this.#faults };
  }
}

function noneOf(): PlayedTool {
  return { calls: 0, attempts: 0, reconciles: 0, succeeded: 0, answered: 0, failed: 0, notRun: {}, unknown: 0 };
}

/** Counts how one call ended. */
function count(tool: PlayedTool, { status, answeredBy, errorCode }: SeenExecution, hasRun: boolean): void {
  if (status === 'SUCCESS') tool[answeredBy === null ? 'succeeded' : 'answered'] += 1;
  else if (status !== 'FAILED') tool.unknown += 1;
  else if (hasRun || errorCode === null) tool.failed += 1;
  else tool.notRun[errorCode] = (tool.notRun[errorCode] ?? 0) + 1;
}
