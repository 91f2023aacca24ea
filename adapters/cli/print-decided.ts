import { isResting } from '../../machines/session-state.ts';
import type { CommittedSession } from '../../persistence/committed-session.ts';
import type { RunResult } from '../../runtime/run-event.ts';
import { EXIT_CODES } from './exit-codes.ts';
import type { Settings } from './read-settings.ts';
import { resultText } from './result-text.ts';
import type { Terminal } from './terminal.ts';

/** Whether the configuration has the agent of the session: then this process goes on with it. */
export function knowsAgent({ agents = [] }: Settings, { agentName, agentVersion }: CommittedSession): boolean {
  return agents.some(({ name, version }) => name === agentName && version >= agentVersion);
}

/** Prints how the run rests that followed a person's word. */
export function printResult(terminal: Terminal, executionId: string, result: RunResult): void {
  terminal.json({ executionId, isDriven: true, ...result });
  for (const line of resultText(result, terminal.colours)) terminal.line(line);
  if (result.state === 'FAILED') process.exitCode = EXIT_CODES.failed;
}

/** Prints a person's word that was committed where this process cannot go on. */
export function printSettled(
  terminal: Terminal,
  executionId: string,
  session: CommittedSession,
  { what, hasOutput = false }: { what: 'settled' | 'decided'; hasOutput?: boolean },
): void {
  const { sessionId, state, agentName, agentVersion } = session;
  const { runId } = session.snapshot.context;
  const result = { sessionId, runId, state, reply: null, awaiting: [], error: null };
  terminal.json({ executionId, isDriven: false, ...(hasOutput && { isOutputChecked: false }), ...result });
  terminal.line(`${what}: the session is ${state}`);
  if (hasOutput) {
    terminal.note(
      'The output is stored as it was given: without the agent nothing could hold it against what its tool promises.',
    );
  }
  if (isResting(state)) return;
  terminal.note(
    `The configuration has no agent ${agentName} of version ${agentVersion} or newer: a worker that has it goes on, or \`turnlock recover\` there.`,
  );
}
