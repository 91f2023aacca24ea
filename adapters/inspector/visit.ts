import type { Environment } from '../../environment.ts';
import type { Build } from '../../persistence/build.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import type { Runtime } from '../../runtime/create-runtime.ts';
import type { TenantDirectory } from './tenants.ts';
import type { Viewer } from './viewer.ts';

/** What the inspector stands on. */
export interface Ground {
  store: Store;
  /** `null`: the agents are not known here, so sessions can be looked at and decided about, and go on elsewhere. */
  runtime: Runtime | null;
  /** What the agents can go on with; absent: nothing is said of what is newer. */
  build?: Build;
  environment: Environment;
}

/** One look at one page: what every page is made from. */
export interface Visit extends Ground {
  viewer: Viewer;
  /** Whose sessions a viewer of all tenants may look at. */
  tenants: TenantDirectory;
  /** Whether decisions are taken here. */
  decides: boolean;
  /** Whether the viewer has signed in here and can sign out. */
  isSignedIn: boolean;
  /** What was asked for, without the base path: begins with a slash. */
  path: string;
  query: URLSearchParams;
  /** The address of a page of the inspector: `path` begins with a slash, and what it is made of is encoded already. */
  link(path: string, query?: Readonly<Record<string, string | null | undefined>>): string;
}

/** The path of a session's page, with the tenant where the viewer sees several. */
export function sessionLink(visit: Visit, { tenantId, sessionId }: { tenantId: string; sessionId: string }): string {
  return visit.link(`/sessions/${sessionId}`, { tenant: visit.viewer.tenantId === null ? tenantId : null });
}

/** Makes {@link Visit.link} for an inspector that is mounted at `basePath`. */
export function linkUnder(basePath: string): Visit['link'] {
  return (path, query = {}) => {
    const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] != null && pair[1] !== '');
    const search = new URLSearchParams(given).toString();
    return `${basePath}${path}${search === '' ? '' : `?${search}`}`;
  };
}
