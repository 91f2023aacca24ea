import type { LogEntry } from '../../runtime/log.ts';

/** What a line of a runtime's log says in a timeline; `null`: nothing that a reader of one needs. */
export function describeLog(
  { event, attributes }: LogEntry,
  numberOf: (sessionId: string) => number | undefined,
): string | null {
  const { sessionId, from, to } = attributes;
  const number = typeof sessionId === 'string' ? numberOf(sessionId) : undefined;
  const session = number === undefined ? '' : `session ${number}: `;
  switch (event) {
    case 'commit.done':
      return `${session}commits ${String(attributes.event)}, ${from === to ? `still ${String(to)}` : `${String(from)} → ${String(to)}`}`;
    case 'session.tookOver':
      return `${session}takes it over from a process that is gone`;
    case 'write.stale':
      return `${session}is refused: another process has it by now`;
    case 'tool.outcomeUnknown':
      return `${session}nobody knows how a call ended`;
    default:
      return null;
  }
}
