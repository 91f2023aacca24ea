import { randomUUID } from 'node:crypto';
import { type Environment, systemEnvironment } from '../../environment.ts';
import { type Limits, resolveLimits } from '../../limits.ts';
import type { CommittedSession } from '../../persistence/committed-session.ts';
import { createSession } from '../../persistence/create-session.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { atTestEnd } from './at-test-end.ts';
import type { RuntimeDatabase } from './runtime-database.ts';

/** What statements of ours need, without a runtime above it. Closed at the test's end. */
export async function openStore(
  database: Pick<RuntimeDatabase, 'adapter'>,
  { environment = systemEnvironment, limits = {} }: { environment?: Environment; limits?: Partial<Limits> } = {},
): Promise<Store> {
  const resolved = resolveLimits(limits);
  const opened = await database.adapter().connect({ environment, limits: resolved });
  atTestEnd(() => opened.close());
  return { database: opened, environment, limits: resolved };
}

/** A new session of the tenant `tenant`. */
export async function insertSession(store: Store): Promise<CommittedSession> {
  return await createSession(store, {
    sessionId: randomUUID(),
    tenantId: 'tenant',
    userId: 'user',
    externalId: null,
    agentName: `agent-${randomUUID()}`,
    agentVersion: 1,
    modelId: 'model',
    metadata: {},
    normalised: null,
  });
}
