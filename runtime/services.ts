import { TurnlockError } from '../errors.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import type { Store } from '../persistence/session-transaction.ts';
import type { Agent } from './define-agent.ts';
import type { LiveSessions } from './live-sessions.ts';
import type { Operations } from './operations.ts';

/** What the parts of one runtime share. */
export interface Services {
  store: Store;
  agents: ReadonlyMap<string, Agent>;
  /** Name of this runtime in leases: random, so that no two processes share it. */
  holder: string;
  live: LiveSessions;
  /** Whether calls of this runtime drive the runs that they begin; a worker does in any case. */
  drives: boolean;
  /**
   * Whether what is owed is found by claims, as a worker and `recover` do it: then parents and children are left to those. Elsewhere whoever
   * drives a session goes on with its relatives in the same process.
   */
  isClaiming: boolean;
  /** What `close` waits for. */
  operations: Operations;
  /** Aborts with `close`: nothing new begins, model calls stop, tools that are out come to their end. */
  closing: AbortSignal;
}

/** @throws RUNTIME_CLOSED after `close`. */
export function checkOpen(services: Services): void {
  if (services.closing.aborted)
    throw new TurnlockError('RUNTIME_CLOSED', { message: 'runtime is closed: nothing new begins' });
}

/** Runs what a caller asks for; `close` waits until it is done. @throws RUNTIME_CLOSED after `close`. */
export async function operate<Result>(services: Services, work: () => Promise<Result>): Promise<Result> {
  checkOpen(services);
  return await services.operations.run(work);
}

/**
 * The agent of a session, if this build has it.
 *
 * @throws AGENT_UNKNOWN when no agent of that name was given to `createRuntime`.
 * @throws AGENT_VERSION_MISMATCH when the session was written by another version of it.
 */
export function agentOf(services: Services, session: Pick<CommittedSession, 'agentName' | 'agentVersion'>): Agent {
  const agent = services.agents.get(session.agentName);
  if (agent === undefined) {
    const known = [...services.agents.keys()].join(', ') || 'none';
    throw new TurnlockError('AGENT_UNKNOWN', {
      message: `agent not known to this runtime: ${session.agentName} (found ${known})`,
      details: { agent: session.agentName, known },
    });
  }
  if (agent.version !== session.agentVersion) {
    throw new TurnlockError('AGENT_VERSION_MISMATCH', {
      message: `agent has another version here: ${agent.name} (found ${agent.version}, wanted ${session.agentVersion})`,
      details: { agent: agent.name, found: agent.version, wanted: session.agentVersion },
    });
  }
  return agent;
}
