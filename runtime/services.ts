import { TurnlockError } from '../errors.ts';
import { SESSION_MACHINE_ID } from '../machines/session.machine.ts';
import { readableVersions } from '../machines/snapshot-codec.ts';
import { type Build, newerAgent } from '../persistence/build.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import { refuseReentrance } from '../persistence/reentrance.ts';
import type { Store } from '../persistence/session-transaction.ts';
import type { Announcer } from './announcer.ts';
import type { CountTokens } from './context/count-tokens.ts';
import type { Agent } from './define-agent.ts';
import type { EvidenceKeeper } from './keep-evidence.ts';
import type { LiveSessions } from './live-sessions.ts';
import type { VectorWork } from './memory/vector-work.ts';
import type { Operations } from './operations.ts';
import type { Signals } from './signals.ts';
import type { Summariser } from './summaries/summariser.ts';

/** What the parts of one runtime share. */
export interface Services {
  store: Store;
  agents: ReadonlyMap<string, Agent>;
  /** What counts the tokens of the agents that have a budget, by name. */
  counters: ReadonlyMap<string, CountTokens>;
  /** What this build knows: sessions that are newer are left alone. */
  build: Build;
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
  /** Tells the host of what people are asked; `null` where it has no hook. */
  announcer: Announcer | null;
  /** Writes the summaries that are owed. */
  summariser: Summariser;
  /** Keeps what tools return too late. */
  evidence: EvidenceKeeper;
  /** By what it remembers. `vectorWork` is `null` where searches go by text alone. */
  memory: { language: string; vectorWork: VectorWork | null };
  /** Where this runtime tells of itself. */
  signals: Signals;
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

/**
 * Runs what a caller asks for; `close` waits until it is done.
 *
 * @throws RUNTIME_CLOSED after `close`, TRANSACTION_REENTRANT from within a transactional tool.
 */
export async function operate<Result>(services: Services, work: () => Promise<Result>): Promise<Result> {
  refuseReentrance();
  checkOpen(services);
  return await services.operations.run(work);
}

/** Begins what nobody waits for; `close` does. What goes wrong with it is found again by whoever looks next. */
export function inBackground(services: Services, work: () => Promise<unknown>): void {
  services.operations.run(work).catch(() => undefined);
}

/**
 * The agent of a session, if this build can go on with it. A build goes on with sessions of older versions of the agent: the commit by which
 * it begins or takes over a run raises the session's version to its own.
 *
 * @throws AGENT_UNKNOWN when no agent of that name was given to `createRuntime`.
 * @throws AGENT_VERSION_MISMATCH when a newer version of it has gone on with the session.
 */
export function agentOf(services: Services, session: Pick<CommittedSession, 'agentName' | 'agentVersion'>): Agent {
  const agent = knownAgentOf(services, session);
  if (session.agentVersion > agent.version) throw newerAgent(agent.name, agent.version, session.agentVersion);
  return agent;
}

/**
 * Whether a call may be made that makes work for the session. A runtime that drives must be able to go on with it; one that leaves that to
 * workers elsewhere must know its agent, in whatever version.
 *
 * @throws AGENT_UNKNOWN, AGENT_VERSION_MISMATCH.
 */
export function checkAgent(services: Services, session: Pick<CommittedSession, 'agentName' | 'agentVersion'>): void {
  if (services.drives) agentOf(services, session);
  else knownAgentOf(services, session);
}

function knownAgentOf({ agents }: Services, { agentName }: Pick<CommittedSession, 'agentName'>): Agent {
  const agent = agents.get(agentName);
  if (agent !== undefined) return agent;
  const known = [...agents.keys()].join(', ') || 'none';
  throw new TurnlockError('AGENT_UNKNOWN', {
    message: `agent not known to this runtime: ${agentName} (found ${known})`,
    details: { agent: agentName, known },
  });
}

/** What the agents of this runtime can go on with. */
export function buildOf(agents: ReadonlyMap<string, Agent>): Build {
  const known = [...agents.values()].map(({ name, version, tools }) => {
    const versions = [...tools.values()].map((tool) => [tool.name, tool.version] as const);
    return [name, { version, tools: Object.fromEntries(versions) }] as const;
  });
  return { machines: { [SESSION_MACHINE_ID]: readableVersions() }, agents: Object.fromEntries(known) };
}
