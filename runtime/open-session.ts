import { TurnlockError } from '../errors.ts';
import { MAX_CHARACTERS } from '../limits.ts';
import {
  type CallerTransaction,
  checkCallerTransaction,
  createSessionInTransaction,
} from '../persistence/caller-transaction.ts';
import { createSession, findByExternalId, type NewSession } from '../persistence/create-session.ts';
import { readSession } from '../persistence/read-session-by-key.ts';
import { checkIdentifier } from '../persistence/values/check-identifier.ts';
import { checkUuid } from '../persistence/values/check-uuid.ts';
import { checkMetadata } from './check-message.ts';
import { checkOptions } from './check-options.ts';
import { checkTenant, optionRefused } from './check-query.ts';
import { agentOf, type Services } from './services.ts';
import { Session } from './session-handle.ts';

/** What a new session is made of. */
export interface NewSessionOptions<Name extends string = string> {
  /** Name of one of the runtime's agents. */
  agent: Name;
  /** 1 to 64 characters. */
  tenantId: string;
  /** 1 to 64 characters. */
  userId: string;
  /** The caller's id, 1 to 255 characters, unique per tenant: the same one again returns the same session. */
  externalId?: string;
  /** JSON of the caller, at most `limits.maxMetadataBytes`; never changes. Default none. */
  metadata?: { [name: string]: unknown };
  /** A transaction of the caller's, in which the session is inserted: it is there once that commits. Its role needs `turnlock_client`. */
  transaction?: CallerTransaction;
}

const SESSION_OPTIONS = ['agent', 'tenantId', 'userId', 'externalId', 'metadata', 'transaction'];

/** How an existing session is named. There is no way to a session without its tenant. */
export type SessionReference = { tenantId: string; sessionId: string } | { tenantId: string; externalId: string };

/** The session of an actor: one that exists, or what makes one, which is found again by its external id. */
export type SessionActorInput = SessionReference | (Omit<NewSessionOptions, 'transaction'> & { externalId: string });

/** Opens or creates the session of an actor. @throws what `session` and `createSession` throw. */
export async function openOrCreate(
  services: Services,
  { message: _, ...input }: SessionActorInput & { message?: unknown },
): Promise<Session> {
  if (!('agent' in input)) return openSession(services, input);
  if (input.externalId === undefined) throw optionRefused('externalId', 'an id by which the session is found again');
  return createNewSession(services, input);
}

/** Creates a session, or answers with the one that has its external id. @throws what `createSession` throws. */
export async function createNewSession<Output>(
  services: Services,
  options: NewSessionOptions,
): Promise<Session<Output>> {
  const { environment, limits } = services.store;
  if (typeof checkOptions(options, 'createSession', SESSION_OPTIONS).agent !== 'string')
    throw optionRefused('agent', 'a name');
  const agent = agentOf(services, {
    agentName: options.agent,
    agentVersion: services.agents.get(options.agent)?.version ?? 0,
  });
  const { externalId } = options;
  const metadata = checkMetadata(options.metadata ?? {}, limits);
  const session: NewSession = {
    sessionId: environment.uuid(),
    tenantId: checkTenant(options.tenantId),
    userId: checkIdentifier(options.userId, { name: 'userId', maxCharacters: MAX_CHARACTERS.userId }),
    externalId: externalId === undefined ? null : checkExternalId(externalId),
    agentName: agent.name,
    agentVersion: agent.version,
    modelId: agent.model.modelId,
    metadata: metadata.value,
    normalised: metadata.notes.length > 0 ? metadata.notes : null,
  };
  const { transaction } = options;
  if (transaction === undefined) return new Session(services, await createSession(services.store, session));
  const now = new Date(environment.now());
  return new Session(services, await createSessionInTransaction(checkCallerTransaction(transaction), session, now));
}

function checkExternalId(externalId: string): string {
  return checkIdentifier(externalId, { name: 'externalId', maxCharacters: MAX_CHARACTERS.externalId });
}

/** Opens an existing session. @throws SESSION_NOT_FOUND, VALUE_INVALID. */
export async function openSession<Output>(services: Services, reference: SessionReference): Promise<Session<Output>> {
  const tenantId = checkTenant(checkOptions(reference, 'session').tenantId);
  if ('sessionId' in reference) {
    const sessionId = checkUuid(reference.sessionId, 'sessionId');
    const { session } = await readSession(services.store, { tenantId, sessionId });
    const { externalId = null } = reference as { externalId?: string | null };
    if (externalId === null || externalId === session.externalId) return new Session(services, session);
    throw notFound(`${sessionId} with external id ${JSON.stringify(externalId)}`, tenantId, { sessionId, externalId });
  }
  const externalId = checkExternalId(reference.externalId);
  const found = await findByExternalId(services.store, { tenantId, externalId });
  if (found !== null) return new Session(services, found);
  throw notFound(`external id ${JSON.stringify(externalId)}`, tenantId, { externalId });
}

function notFound(what: string, tenantId: string, details: object): TurnlockError {
  return new TurnlockError('SESSION_NOT_FOUND', {
    message: `session not found: ${what} (wanted one of tenant ${JSON.stringify(tenantId)})`,
    details: { ...details, tenantId },
  });
}
