import { TurnlockError } from '../../errors.ts';
import { findAcrossTenants } from '../../persistence/find-across-tenants.ts';
import { listSessions, type SessionCriteria, type SessionSummary } from '../../persistence/list-sessions.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { checkCriteria } from '../../runtime/check-query.ts';
import { checkTenant } from './choose-session.ts';
import { withStore } from './open-store.ts';
import { readSettings } from './read-settings.ts';
import { printSessions } from './sessions-table.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal } from './terminal.ts';

/** What `turnlock find` takes. */
export interface FindOptions extends SharedOptions {
  tenant?: string;
  metadata?: string[];
  externalId?: string;
  execution?: string;
  key?: string;
  run?: string;
  message?: string;
  user?: string;
  agent?: string;
  limit: number;
}

/** Criteria by which the database looks across tenants, those first that leave the least over. */
const CROSSING = ['executionId', 'idempotencyKey', 'runId', 'messageId', 'externalId', 'metadata'] as const;

/** Sessions of all tenants that are looked at further. */
const MAX_CROSSING = 1_000;

/** Does what `turnlock find` says. */
export async function runFind(options: FindOptions): Promise<void> {
  const settings = await readSettings(options, { agents: false, mustExist: true });
  const terminal = openTerminal(options);
  const found = await withStore(settings, (store) => {
    const criteria = checkCriteria(criteriaOf(options), store.limits);
    return options.tenant === undefined
      ? findOfAll(store, criteria, options.limit)
      : listSessions(store, { tenantId: checkTenant(options.tenant), limit: options.limit, ...criteria });
  });
  printSessions(terminal, found, false);
  const numbers = (options.metadata ?? []).filter((pair) => typeof readValue(pair) !== 'string');
  if (found.length > 0 || numbers.length === 0) return;
  terminal.note(`Read as JSON: ${numbers.join(', ')}. A text that looks like JSON stands in quotes: name='"42"'.`);
}

async function findOfAll(store: Store, criteria: SessionCriteria, limit: number): Promise<SessionSummary[]> {
  const by = CROSSING.find((name) => criteria[name] !== undefined);
  if (by === undefined) throw nothingToFind();
  const keys = await findAcrossTenants(store, { [by]: criteria[by] }, MAX_CROSSING);
  const found: SessionSummary[] = [];
  for (const [tenantId, own] of Map.groupBy(keys, (key) => key.tenantId)) {
    const sessionIds = own.map(({ sessionId }) => sessionId);
    found.push(...(await listSessions(store, { tenantId, sessionIds, limit, ...criteria })));
  }
  return found.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime()).slice(0, limit);
}

function nothingToFind(): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `nothing to find by (wanted --metadata, --external-id, --execution, --key, --run or --message, or a --tenant)`,
    hint: 'Name what the sessions have, or whose they are: `turnlock sessions --tenant TENANT` lists all of a tenant.',
  });
}

function criteriaOf({ metadata, externalId, execution, key, run, message, user, agent }: FindOptions) {
  const given = {
    externalId,
    executionId: execution,
    idempotencyKey: key,
    runId: run,
    messageId: message,
    userId: user,
    agent,
    metadata:
      metadata === undefined ? undefined : Object.fromEntries(metadata.map((pair) => [nameOf(pair), readValue(pair)])),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function nameOf(pair: string): string {
  const place = pair.indexOf('=');
  if (place > 0) return pair.slice(0, place);
  throw new TurnlockError('OPTIONS_INVALID', {
    message: `option not accepted: --metadata ${JSON.stringify(pair)} (wanted name=value)`,
    hint: 'As in --metadata orderId=42; what is within another value is given as JSON: --metadata \'order={"id":42}\'.',
  });
}

function readValue(pair: string): unknown {
  const text = pair.slice(pair.indexOf('=') + 1);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
