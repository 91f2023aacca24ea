/** How much an entry matters. `warn`: something went wrong that passes or that a person should know of. `error`: work is over for good. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** What is logged, and at which level. A closed list: what is added stands in the change log. */
export const LOG_EVENTS = {
  'runtime.started': 'info',
  'runtime.closed': 'info',
  'worker.started': 'info',
  'worker.stopped': 'info',
  'commit.done': 'debug',
  'run.began': 'info',
  'run.continued': 'info',
  'run.rested': 'info',
  'run.failed': 'error',
  'run.leftToOthers': 'info',
  'run.broke': 'error',
  'session.tookOver': 'warn',
  'model.attemptFailed': 'warn',
  'tool.attemptFailed': 'warn',
  'tool.outcomeUnknown': 'warn',
  'person.asked': 'info',
  'write.stale': 'warn',
  'memory.summarised': 'info',
  warning: 'warn',
} as const satisfies Record<string, LogLevel>;

/** The name of what is logged. */
export type LogEvent = keyof typeof LOG_EVENTS;

/** One line of the log. Never contents: no messages, params, outputs or reasons; ids, names, counts, durations and codes. */
export interface LogEntry {
  /** Milliseconds since 1970, by this machine's clock. */
  time: number;
  level: LogLevel;
  event: LogEvent;
  /** A sentence for people. The same for every entry of an event, but for a `warning`, where it is the warning's. */
  message: string;
  /** What it is about: names in camel case, of which docs/telemetry.md has the list. */
  attributes: { [name: string]: string | number | boolean };
}

/** Told of what happens in a runtime, at once and in order. */
export type Log = (entry: LogEntry) => void;

const SENTENCES: Record<Exclude<LogEvent, 'warning'>, string> = {
  'runtime.started': 'The runtime is open.',
  'runtime.closed': 'The runtime is closed.',
  'worker.started': 'This process looks for sessions that owe work.',
  'worker.stopped': 'This process looks for no more sessions.',
  'commit.done': 'A transition is committed.',
  'run.began': 'A run began, and this process drives it.',
  'run.continued': 'This process goes on with a run.',
  'run.rested': 'The run rests, or sleeps until its children wake it.',
  'run.failed': 'The run ended in FAILED.',
  'run.leftToOthers': 'This process drives the run no more; it goes on elsewhere.',
  'run.broke': 'The drive of a run broke off; whoever takes it over goes on.',
  'session.tookOver': 'A session was taken over whose worker had not given it back.',
  'model.attemptFailed': 'An attempt of a model call failed and is made again.',
  'tool.attemptFailed': 'An attempt of a tool failed and is made again.',
  'tool.outcomeUnknown': 'A call was started, and nothing says how it ended.',
  'person.asked': 'A person is asked.',
  'memory.summarised': 'A summary takes the place of the older turns of a session, for its model.',
  'write.stale': 'A write was refused: who sent it holds the session no more.',
};

/** The entry of an event; absent attributes are left out. */
export function logEntry(
  event: LogEvent,
  time: number,
  attributes: { [name: string]: string | number | boolean | null | undefined },
  message: string = event === 'warning' ? '' : SENTENCES[event],
): LogEntry {
  const said = Object.entries(attributes).filter(
    (entry): entry is [string, string | number | boolean] => entry[1] != null,
  );
  return { time, level: LOG_EVENTS[event], event, message, attributes: Object.fromEntries(said) };
}
