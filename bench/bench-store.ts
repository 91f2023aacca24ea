import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { postgres } from '../adapters/databases/postgres.ts';
import { type Environment, systemEnvironment } from '../environment.ts';
import { resolveLimits } from '../limits.ts';
import { createSession } from '../persistence/create-session.ts';
import type { SessionKey } from '../persistence/read-session.ts';
import type { Store } from '../persistence/session-transaction.ts';

/** What the unit of work needs, without a runtime around it. The pool stays the caller's. */
export async function openStore(pool: pg.Pool, environment: Environment = systemEnvironment): Promise<Store> {
  const limits = resolveLimits();
  return { database: await postgres(pool).connect({ environment, limits }), environment, limits };
}

/** A session without turns. */
export async function insertSession(store: Store): Promise<SessionKey> {
  return await createSession(store, {
    sessionId: randomUUID(),
    tenantId: 'bench',
    userId: 'bench',
    externalId: null,
    agentName: 'bench',
    agentVersion: 1,
    modelId: 'scripted',
    metadata: {},
    normalised: null,
  });
}
