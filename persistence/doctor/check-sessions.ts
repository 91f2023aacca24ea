import type { Build } from '../build.ts';
import { inPatientTransaction } from '../patient-transaction.ts';
import { readStandings } from '../read-standings.ts';
import type { SessionPage } from '../session-pages.ts';
import type { Store } from '../session-transaction.ts';
import { type ClaimPage, type ClaimPlace, checkClaims, checkClaimsOfSession } from './check-claims.ts';
import { checkHistories } from './check-history.ts';
import { checkStanding, type Judging } from './check-standing.ts';
import type { Found } from './doctor-codes.ts';

/** What sessions are judged by. */
export interface Examining extends Judging {
  /** Absent: nothing is said of what is newer. */
  build?: Build | undefined;
}

/**
 * What of the sessions of one page is not as it must be, from two statements. Each says what was true at one moment, so that a commit is seen
 * whole or not at all; no lock is taken.
 */
export async function checkPage(store: Store, page: SessionPage, examining: Examining): Promise<Found[]> {
  const { tenantId, sessionIds } = page;
  return inPatientTransaction(store, { tenantId }, async (em) => {
    const standings = await readStandings(em, { tenantId, sessionIds, build: examining.build });
    const found = standings.flatMap((standing) => checkStanding(standing, examining));
    return [...found, ...(await checkHistories(em, page))];
  });
}

/** What is wrong with the business keys of a tenant, a page after the other. */
export async function* checkClaimsOf(store: Store, tenantId: string, size: number): AsyncGenerator<Found[]> {
  for (let after: ClaimPlace | null = null; ; ) {
    const place: ClaimPlace | null = after;
    const page: ClaimPage = await inPatientTransaction(store, { tenantId }, (em) =>
      checkClaims(em, { tenantId, after: place, size }),
    );
    yield page.found;
    if (page.after === null) return;
    after = page.after;
  }
}

/** What is wrong with the business keys of one session. */
export async function checkClaimsOfOne(store: Store, key: { tenantId: string; sessionId: string }): Promise<Found[]> {
  return inPatientTransaction(store, { tenantId: key.tenantId }, (em) => checkClaimsOfSession(em, key));
}
