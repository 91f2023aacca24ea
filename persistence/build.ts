import { TurnlockError } from '../errors.ts';
import { isSettled } from '../machines/execution-status.ts';
import type { CommittedSession } from './committed-session.ts';
import type { LeaseClaim } from './lease.ts';
import type { ExecutionRow } from './row-changes.ts';

/** What a build can go on with. As JSON it is what the database's look for work compares with. */
export interface Build {
  /** Versions of each machine whose snapshots it reads, by the machine's id. */
  machines: { [machineId: string]: number[] };
  /** Its agents by name, each with its version and the newest version of each of its tools that it knows. */
  agents: { [name: string]: { version: number; tools: { [name: string]: number } } };
}

/**
 * The version of the agent after a commit under `claim`: that of the build which drives from here, and never less than before.
 *
 * The look for work passes over what is newer than the build; but what it saw may be old, and a newer build may have had the session
 * meanwhile. So whoever is granted the lease is compared again, under the session's lock.
 *
 * @throws AGENT_VERSION_MISMATCH, TOOL_VERSION_UNSUPPORTED when the build cannot go on with the session.
 */
export function agentVersionUnder(
  claim: LeaseClaim,
  { agentName, agentVersion }: CommittedSession,
  executions: readonly ExecutionRow[],
): number {
  if (!('build' in claim) || claim.build === undefined) return agentVersion;
  const agent = claim.build.agents[agentName];
  if (agent === undefined) return agentVersion;
  if (agentVersion > agent.version) throw newerAgent(agentName, agent.version, agentVersion);
  for (const { executionId, toolName, toolVersion, upgradedVersion, status } of executions) {
    const known = agent.tools[toolName];
    const wanted = upgradedVersion ?? toolVersion;
    if (!isSettled(status) && known !== undefined && wanted > known)
      throw newerTool(executionId, toolName, known, wanted);
  }
  return agent.version;
}

/** The session went on with a newer version of its agent than the build's. */
export function newerAgent(agent: string, found: number, wanted: number): TurnlockError {
  return new TurnlockError('AGENT_VERSION_MISMATCH', {
    message: `session is of a newer version of its agent than this build: ${agent} (found ${found}, wanted ${wanted})`,
    details: { agent, found, wanted },
  });
}

function newerTool(executionId: string, tool: string, found: number, wanted: number): TurnlockError {
  return new TurnlockError('TOOL_VERSION_UNSUPPORTED', {
    message: `call is of a newer version of its tool than this build: ${tool} (found ${found}, wanted ${wanted})`,
    details: { executionId, tool, found, wanted },
  });
}
