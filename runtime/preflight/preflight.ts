import { inPatientTransaction } from '../../persistence/patient-transaction.ts';
import { type ParkedCall, readParkedCall, readParkedCalls } from '../../persistence/read-parked-calls.ts';
import { readStandings } from '../../persistence/read-standings.ts';
import { type SessionPage, type SessionScope, sessionPages } from '../../persistence/session-pages.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import type { Standing } from '../../persistence/standing.ts';
import { changedToolSchemas } from '../../persistence/tool-schemas.ts';
import type { Agent } from '../define-agent.ts';
import { keyToday } from '../guards-of.ts';
import { schemasOf } from '../schemas-of.ts';
import { buildOf } from '../services.ts';
import { approvalHolds, paramsToRun } from '../upgrade-params.ts';
import { type PreflightReport, Tally } from './preflight-report.ts';

/** What a preflight looks at. */
export interface Preflight {
  /** The agents of the new build, by name. */
  agents: ReadonlyMap<string, Agent>;
  scope: Exclude<SessionScope, { sessionId: string }>;
  /** Agents of other services on the same database: their sessions are left out. */
  except: readonly string[];
  /** Sessions that are looked at in one transaction. */
  pageSize: number;
}

/**
 * What a build would do with the sessions that are not over: how many it has of each agent, version and tool, and what it could not go on with.
 * It reads and writes nothing, no schema is recorded either; upgrades of params are run outside any transaction. Memory does not grow with the
 * number of sessions.
 *
 * @throws PRIVILEGE_MISSING when the role may not look across tenants.
 */
export async function preflight(
  store: Store,
  { agents, scope, except, pageSize }: Preflight,
): Promise<PreflightReport> {
  const tally = new Tally();
  for (const { agent, tool, version } of await changedToolSchemas(store, schemasOf(agents))) {
    tally.problem('schemaChanged', { agent, tool, version });
  }
  const build = buildOf(agents);
  for await (const page of sessionPages(store, scope, pageSize)) {
    const { standings, calls } = await inPatientTransaction(store, { tenantId: page.tenantId }, async (em) => ({
      standings: await readStandings(em, { ...page, build }),
      calls: await readParkedCalls(em, page),
    }));
    const parked = standings.filter(({ state, agent }) => state !== 'COMPLETED' && !except.includes(agent));
    for (const standing of parked) tallySession(tally, standing, agents);
    await tallyCalls(store, tally, { page, parked, calls, agents });
  }
  return tally.end();
}

function tallySession(tally: Tally, standing: Standing, agents: ReadonlyMap<string, Agent>): void {
  tally.session(standing);
  const { tenantId, sessionId, agent, agentVersion: version } = standing;
  const example = { tenantId, sessionId, agent, version };
  const newer = standing.problem?.code === 'MACHINE_VERSION_UNSUPPORTED' ? 'machine' : standing.stranded;
  if (!agents.has(agent)) tally.problem('agentMissing', example);
  else if (newer !== null) tally.problem('newer', { ...example, newer });
  else if (standing.problem !== null) tally.problem('unreadable', example);
}

interface PageOfCalls {
  page: SessionPage;
  parked: readonly Standing[];
  calls: readonly ParkedCall[];
  agents: ReadonlyMap<string, Agent>;
}

async function tallyCalls(store: Store, tally: Tally, { page, parked, calls, agents }: PageOfCalls): Promise<void> {
  const agentOf = new Map(parked.map(({ sessionId, agent }) => [sessionId, agent]));
  for (const call of calls) {
    const name = agentOf.get(call.sessionId);
    const agent = name === undefined ? undefined : agents.get(name);
    if (agent === undefined) continue;
    tally.call(agent.name, call, agent.tools.get(call.toolName)?.version ?? null);
    await tallyCall(store, tally, page.tenantId, agent, call);
  }
}

async function tallyCall(store: Store, tally: Tally, tenantId: string, agent: Agent, call: ParkedCall): Promise<void> {
  const { sessionId, executionId, toolName, version, approvedDigest } = call;
  const tool = agent.tools.get(toolName);
  const example = { tenantId, sessionId, executionId, agent: agent.name, tool: toolName, version };
  if (tool === undefined) return tally.problem('toolMissing', example);
  // What is of a later version was counted with its session; what is of the same needs nothing.
  if (version >= tool.version) return;
  const row = await readParkedCall(store, tenantId, call);
  if (row === null) return;
  const { environment, limits } = store;
  const signal = new AbortController().signal;
  const ready = await paramsToRun({ environment, limits, signal }, tool, row);
  if ('problem' in ready) return tally.problem('upgradeFails', { ...example, why: ready.problem.message });
  const key = keyToday({ limits, session: { sessionId } }, tool, row, ready.params);
  if (key !== null && 'problem' in key) return tally.problem('upgradeFails', { ...example, why: key.problem.message });
  if (key !== null) tally.problem('keyMoves', example);
  if (approvedDigest !== null && !approvalHolds(tool, ready, approvedDigest)) tally.problem('approvalVoided', example);
}
