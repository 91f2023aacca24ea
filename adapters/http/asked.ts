import { isTurnlockError, TurnlockError } from '../../errors.ts';
import type { Runtime } from '../../runtime/create-runtime.ts';
import type { NewSessionOptions } from '../../runtime/open-session.ts';
import type { Session } from '../../runtime/session-handle.ts';
import type { SessionStatus } from '../../runtime/session-status.ts';
import { HttpProblem } from './http-problem.ts';
import { checkIdentity, type Identity } from './identity.ts';
import { isOriginAllowed, isSentToLoopback } from './loopback.ts';
import type { HttpAction, HttpSettings } from './options.ts';

/** A request whose sender is known. */
export interface Asked {
  readonly runtime: Runtime;
  readonly settings: HttpSettings;
  readonly request: Request;
  readonly identity: Identity & { roles: readonly string[] };
}

/** A session that the sender may reach, and how it stands. */
export interface Opened {
  readonly session: Session;
  readonly status: SessionStatus;
}

/** Lets nobody in whom the host does not know. @throws HttpProblem 401, 403, 421. */
export async function identify(settings: HttpSettings, request: Request): Promise<Asked['identity']> {
  if (settings.authenticate === null && !isSentToLoopback(request)) {
    throw new HttpProblem(
      421,
      'HOST_NOT_ALLOWED',
      'Only requests to a loopback name are answered, since nobody is asked who he is.',
      'Use 127.0.0.1 or localhost, or give the handler `authenticate`.',
    );
  }
  if (!isOriginAllowed(request, settings.origins)) {
    throw new HttpProblem(
      403,
      'ORIGIN_NOT_ALLOWED',
      'A page of another origin asked for a change.',
      'Name its origin in `origins` of the handler, if it may.',
    );
  }
  const identity = settings.authenticate === null ? settings.identity : await settings.authenticate(request);
  if (identity === null || identity === undefined) {
    throw new HttpProblem(401, 'UNAUTHENTICATED', 'Nobody is known by this request.', 'Say who asks.', {
      'www-authenticate': 'Bearer',
    });
  }
  try {
    return checkIdentity(identity);
  } catch (cause) {
    // The host's mistake, not the client's.
    throw new Error('authenticate answered with what is no identity', { cause });
  }
}

/** @throws HttpProblem 403. */
export async function mayDo({ settings, identity, request }: Asked, action: HttpAction): Promise<void> {
  if (await settings.authorize(identity, action, request)) return;
  throw new HttpProblem(403, 'FORBIDDEN', `Not allowed: ${action}.`, 'Ask somebody who may.');
}

/** Opens a session that is the sender's to see; of every other one it says the same: there is none. @throws SESSION_NOT_FOUND. */
export async function openFor(
  asked: Asked,
  name: { sessionId: string } | { externalId: string },
  action: HttpAction,
): Promise<Opened> {
  const { runtime, identity } = asked;
  const opened = await read(runtime, { tenantId: identity.tenantId, ...name }).catch((error: unknown) => {
    const isNone = ['SESSION_NOT_FOUND', 'VALUE_INVALID', 'VALUE_TOO_LARGE'] as const;
    if (isNone.some((code) => isTurnlockError(error, code))) return null;
    throw error;
  });
  if (opened === null || (identity.userId !== null && opened.status.userId !== identity.userId)) throw notFound(name);
  await mayDo(asked, action);
  return opened;
}

/** Creates a session in the sender's tenant. Of an external id that is somebody else's it says no more than that. */
export async function createFor(
  { runtime, identity }: Asked,
  options: Omit<NewSessionOptions, 'tenantId' | 'transaction'>,
): Promise<Session> {
  try {
    return await runtime.createSession({ ...options, tenantId: identity.tenantId });
  } catch (error) {
    if (!isTurnlockError(error, 'EXTERNAL_ID_CONFLICT')) throw error;
    throw new TurnlockError('EXTERNAL_ID_CONFLICT', {
      message: 'external id is taken by another session',
      details: { externalId: options.externalId },
    });
  }
}

async function read(
  runtime: Runtime,
  reference: { tenantId: string; sessionId: string } | { tenantId: string; externalId: string },
): Promise<Opened> {
  const session = await runtime.session(reference);
  return { session, status: await session.status() };
}

function notFound(name: object): TurnlockError {
  return new TurnlockError('SESSION_NOT_FOUND', {
    message: 'session not found',
    hint: 'Check the id; only sessions that are yours are found.',
    details: { ...name },
  });
}
