import type { RecordedEvent } from '../../machines/session-event.ts';
import type { ExecutionRow } from '../../persistence/row-changes.ts';
import { escapeText } from './escape-text.ts';

/** A call that an event may be about. */
type NamedCall = Pick<ExecutionRow, 'executionId' | 'toolName'>;

/** What a recorded event says beyond its name, in a few words; an empty text where that is nothing. */
export function describeEvent(event: RecordedEvent | null, executions: readonly NamedCall[]): string {
  if (event === null) return 'payload erased';
  return escapeText([...partsOf(event, executions)].join(', '));
}

function* partsOf(event: RecordedEvent, executions: readonly NamedCall[]): Generator<string> {
  const named = (id: unknown) => executions.find(({ executionId }) => executionId === id)?.toolName ?? String(id);
  for (const part of listOf(event.results)) {
    const again = part.retryInMs === undefined ? '' : `, again in ${part.retryInMs} ms`;
    yield `${named(part.executionId)} ${part.outcome ?? 'failed'} (attempt ${part.attempt})${again}`;
  }
  if (event.type === 'execution.started') {
    for (const part of listOf(event.executions)) yield `${named(part.executionId)} attempt ${part.attempt}`;
  }
  if (event.type === 'tool.outcomeUnknown') {
    for (const part of listOf(event.executions))
      yield `${named(part.executionId)} attempt ${part.attempt}: ${part.reason}`;
  }
  if (Array.isArray(event.executionIds)) yield event.executionIds.map(named).join(', ');
  if (event.executionId !== undefined) yield `${named(event.executionId)} ${event.outcome ?? ''}`.trimEnd();
  if (event.code !== undefined) yield String(event.code);
  if (event.retryInMs !== undefined) yield `again in ${event.retryInMs} ms`;
  if (event.by !== undefined) yield `by ${event.by}`;
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
}
