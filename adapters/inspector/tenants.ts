import { isTurnlockError } from '../../errors.ts';
import { listSomeTenants } from '../../persistence/list-some-tenants.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { checkTenant } from '../../runtime/check-query.ts';
import type { Viewer } from './viewer.ts';

/** Tenants that are shown beside each other; of more, one has to be chosen. */
export const MAX_TENANTS = 12;

/** How long a list of tenants is shown again: each look across tenants leaves a row in the audit of operators. */
const KEPT_MS = 60_000;

/** Whose sessions are looked at. */
export interface TenantChoice {
  /** In their order. */
  tenantIds: string[];
  /** Whether there are more tenants than are shown beside each other. */
  isCut: boolean;
}

/** Knows the tenants, for viewers who see all of them. */
export class TenantDirectory {
  readonly #store: Store;
  #kept: { tenantIds: string[]; until: number } | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * The tenants of a look: the viewer's, the one that `named` names, or all.
   *
   * @throws PRIVILEGE_MISSING when the database's role may not look across tenants. VALUE_INVALID, VALUE_TOO_LARGE for a name that none has.
   */
  async choose({ tenantId }: Viewer, named: string | null): Promise<TenantChoice> {
    if (tenantId !== null) return { tenantIds: [tenantId], isCut: false };
    if (named !== null && named !== '') return { tenantIds: [checkTenant(named)], isCut: false };
    const found = await this.#list();
    return { tenantIds: found.slice(0, MAX_TENANTS), isCut: found.length > MAX_TENANTS };
  }

  async #list(): Promise<string[]> {
    const now = this.#store.environment.monotonic();
    if (this.#kept !== null && this.#kept.until > now) return this.#kept.tenantIds;
    const tenantIds = await listSomeTenants(this.#store, { limit: MAX_TENANTS + 1 });
    // Without any there may be one in the next moment.
    this.#kept = tenantIds.length === 0 ? null : { tenantIds, until: now + KEPT_MS };
    return tenantIds;
  }
}

/** Whether an error says that a name is one that no session can have, so that nothing is found by it. */
export function isNoName(error: unknown): boolean {
  return isTurnlockError(error, 'VALUE_INVALID') || isTurnlockError(error, 'VALUE_TOO_LARGE');
}
