import type { TurnPart } from '../../../machines/event-content.ts';
import type { ExecutionRow } from '../../../persistence/row-changes.ts';
import type { RunEvent } from '../../../runtime/run-event.ts';
import { escapeJson, escapeText } from '../escape-text.ts';

/** A committed transition, as a run shows it. */
export type Transition = Extract<RunEvent, { type: 'transition' }>;

/** Finds the row of an execution. */
export type FindExecution = (executionId: string) => Promise<ExecutionRow | null>;

interface Named {
  executionId: string;
  attempt: number;
}

/** A call of an answer, as the audit has it. */
interface Planned {
  executionId: string;
  verdict: string;
}

/** What a transition says of calls, a line each, harmless for a terminal: asked for, begun again, and how they ended. */
export async function describeTransition({ event, turns }: Transition, find: FindExecution): Promise<string[]> {
  switch (event.type) {
    case 'model.calledTools': {
      // Those that cannot run are settled at once; their turns come with those of the others.
      const refused = (event.calls as Planned[]).filter(({ verdict }) => verdict === 'settled');
      const ends = await Promise.all(refused.map(({ executionId }) => describeEnd(executionId, find)));
      return [...turns.flatMap(({ parts }) => (parts as TurnPart[]).flatMap(describeCall)), ...ends];
    }
    case 'execution.started': {
      const again = (event.executions as Named[]).filter(({ attempt }) => attempt > 1);
      return describeEach(again, find, (name, { attempt }) => `↻ ${name} again: attempt ${attempt}, with the same key`);
    }
    case 'tool.settled':
    case 'tool.evidenced':
      return Promise.all((event.results as Named[]).map(({ executionId }) => describeEnd(executionId, find)));
    case 'tool.outcomeUnknown':
      return describeEach(
        event.executions as Named[],
        find,
        (name, { attempt }) => `? ${name}: attempt ${attempt} was started, and nothing says how it ended`,
      );
    case 'execution.settledByPerson':
      return event.outcome === 'runAgain' ? [] : [await describeEnd(String(event.executionId), find)];
    case 'run.cancelled':
      return ['✗ cancelled'];
    default:
      return [];
  }
}

function describeCall(part: TurnPart): string[] {
  if (part.type !== 'toolCall') return [];
  return [
    `→ ${escapeText(part.toolName)} ${part.rawInput === undefined ? escapeJson(part.input) : escapeText(part.rawInput)}`,
  ];
}

async function describeEach(
  executions: readonly Named[],
  find: FindExecution,
  say: (name: string, execution: Named) => string,
): Promise<string[]> {
  return Promise.all(
    executions.map(async (named) => say(escapeText((await find(named.executionId))?.toolName ?? '?'), named)),
  );
}

async function describeEnd(executionId: string, find: FindExecution): Promise<string> {
  const row = await find(executionId);
  if (row === null) return `? ${executionId}`;
  const name = escapeText(row.toolName);
  if (row.status === 'SUCCESS') return `✓ ${name} ${escapeJson(row.outputPayload)}`;
  const why = escapeText(row.errorMessage ?? row.status);
  return row.status === 'FAILED' ? `✗ ${name} ${why}` : `? ${name} ${why}`;
}
