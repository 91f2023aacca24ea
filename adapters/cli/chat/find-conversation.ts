import type { SessionSummary } from '../../../persistence/list-sessions.ts';
import type { Runtime } from '../../../runtime/create-runtime.ts';
import type { Session } from '../../../runtime/session-handle.ts';

/** Whose conversations they are, and with whom. */
export interface Parties {
  tenantId: string;
  userId: string;
  agent: string;
}

/** How many sessions of the tenant are looked at, last changed first. */
const LOOKED_AT = 1_000;

/**
 * The conversation of an external id, begun where there is none; without one the last that these parties had here and that is not
 * complete, else a first one.
 *
 * @throws EXTERNAL_ID_CONFLICT when another agent or user has the external id.
 */
export async function findConversation(
  runtime: Runtime,
  parties: Parties,
  externalId: string | undefined,
): Promise<Session> {
  if (externalId !== undefined) return runtime.createSession({ ...parties, externalId });
  const known = (await conversations(runtime, parties)).find(({ state }) => state !== 'COMPLETED');
  return known === undefined ? beginConversation(runtime, parties) : runtime.session(known);
}

/** Begins another conversation, under the next free number. */
export async function beginConversation(runtime: Runtime, parties: Parties): Promise<Session> {
  const known = await conversations(runtime, parties);
  const numbers = known.map(({ externalId }) => Number(externalId?.split('/').at(-1)));
  const externalId = `${prefixOf(parties)}${Math.max(0, ...numbers) + 1}`;
  return runtime.createSession({ ...parties, externalId });
}

async function conversations(runtime: Runtime, parties: Parties): Promise<SessionSummary[]> {
  const prefix = prefixOf(parties);
  const { tenantId, userId, agent } = parties;
  const all = await runtime.sessions({ tenantId, limit: LOOKED_AT });
  const isOurs = ({ externalId }: SessionSummary) =>
    externalId?.startsWith(prefix) === true && /^\d+$/.test(externalId.slice(prefix.length));
  return all.filter((session) => session.agent === agent && session.userId === userId && isOurs(session));
}

function prefixOf({ agent, userId }: Parties): string {
  return `chat/${agent}/${userId}/`;
}
