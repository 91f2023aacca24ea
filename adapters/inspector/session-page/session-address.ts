import type { SessionKey } from '../../../persistence/read-session.ts';
import { sessionLink, type Visit } from '../visit.ts';

/** The addresses of what belongs to one session. */
export interface SessionAddress {
  page(query: Readonly<Record<string, string>>): string;
  /** The session as it was after a transition. */
  moment(sequence: number): string;
  /** Another session of the same tenant. */
  session(sessionId: string): string;
  /** What is verified. */
  verify: string;
  /** The entries after a sequence, as a piece of a page. */
  entries: string;
  /** The stream of what is committed. */
  events: string;
}

/** Where the pages of a session are. */
export function addressOf(visit: Visit, key: SessionKey): SessionAddress {
  const tenant = visit.viewer.tenantId === null ? key.tenantId : null;
  const below = (path: string, query: Readonly<Record<string, string>> = {}) =>
    visit.link(`/sessions/${key.sessionId}${path}`, { tenant, ...query });
  return {
    page: (query) => (Object.keys(query).length === 0 ? sessionLink(visit, key) : below('', query)),
    moment: (sequence) => below(`/at/${sequence}`),
    session: (sessionId) => sessionLink(visit, { ...key, sessionId }),
    verify: below('/verify'),
    entries: below('/entries'),
    events: below('/events'),
  };
}
