import { callsAfter } from '../machines/open-calls.ts';
import type { SessionEvent } from '../machines/session-event.ts';
import type { SessionSnapshot } from '../machines/snapshot-codec.ts';
import { type ExecutionRow, isWithChild, type RowChanges, type StartedChild } from './row-changes.ts';

interface Input {
  before: SessionSnapshot;
  event: SessionEvent;
  executions: readonly ExecutionRow[];
}

/** The child sessions that `input`'s event begins, and those whose parent gives them up with it. */
export function projectChildren(input: Input): Pick<RowChanges, 'children' | 'givenUp'> {
  return { children: startedChildren(input), givenUp: givenUpBy(input) };
}

function startedChildren({ event }: Input): StartedChild[] {
  if (event.type === 'execution.started') {
    return event.executions.flatMap(({ executionId, content }) =>
      content?.child === undefined ? [] : [{ executionId, child: content.child }],
    );
  }
  if (event.type !== 'model.calledTools') return [];
  return event.calls.flatMap(({ executionId, verdict, content: { child } }) =>
    verdict === 'start' && child !== undefined ? [{ executionId, child }] : [],
  );
}

/** A child's call ends without its result only where the run ends: there it is TIMED_OUT. */
function givenUpBy({ before, event, executions }: Input): string[] {
  const after = callsAfter(before.context.calls, event) ?? [];
  const closed = after.filter(({ status }) => status === 'TIMED_OUT').map(({ executionId }) => executionId);
  return executions.filter((row) => isWithChild(row) && closed.includes(row.executionId)).map((row) => row.executionId);
}
