import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { isTurnlockError, TurnlockError } from '../../errors.ts';
import { listSomeTenants } from '../../persistence/list-some-tenants.ts';
import { createRuntime } from '../../runtime/create-runtime.ts';
import { servicesOf } from '../../runtime/services-of.ts';
import type { FetchHandler } from '../http/identity.ts';
import { isLoopbackName } from '../http/loopback.ts';
import { type Served, serve } from '../http/serve.ts';
import { inspect } from '../inspector/inspect.ts';
import type { Viewer } from '../inspector/viewer.ts';
import type { Ground } from '../inspector/visit.ts';
import { buildOfSettings } from './build-of-settings.ts';
import { checkTenant } from './choose-session.ts';
import { escapeText } from './escape-text.ts';
import { withStore } from './open-store.ts';
import { readSettings, type Settings } from './read-settings.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal, type Terminal } from './terminal.ts';
import { warnOn } from './with-runtime.ts';

/** What `turnlock inspect` takes. */
export interface InspectCommandOptions {
  tenant?: string;
  /** Absent: the usual one, or a free one where that is taken. */
  port?: number;
  host: string;
  decide?: boolean;
  by?: string;
  role?: string[];
  tokenFile?: string;
}

/** Where the inspector listens where it is not told otherwise. */
const USUAL_PORT = 4713;

/** Does what `turnlock inspect` says: it returns once a signal has come and nobody is served any more. */
export async function runInspect(options: SharedOptions & InspectCommandOptions): Promise<void> {
  const terminal = openTerminal(options);
  const { host, port, decide = false } = options;
  const token = await readToken(options);
  if (!isLoopbackName(host) && token === undefined) throw tokenMissing(host);
  if (decide && options.by === undefined) throw whoMissing();
  const tenantId = options.tenant === undefined ? null : checkTenant(options.tenant);
  const viewer = { tenantId, by: options.by ?? 'turnlock inspect', roles: options.role ?? [] };
  const settings = await readSettings(options, { agents: true, mustExist: true });
  await serveInspector(settings, terminal, { viewer, decide, host, port, token });
}

/** What is served, to whom, and where. */
export interface Serving {
  viewer: Viewer;
  decide: boolean;
  host: string;
  /** `undefined`: the usual one, or a free one where that is taken. */
  port: number | undefined;
  token: string | undefined;
}

/** Serves the inspector of a database until a signal comes. @throws PRIVILEGE_MISSING where the role may not look across tenants. */
export async function serveInspector(
  settings: Settings,
  terminal: Terminal,
  { viewer, decide, host, port, token }: Serving,
): Promise<void> {
  const stopping = stopOnSignals();
  await withGround(settings, terminal, decide, async (ground) => {
    if (viewer.tenantId === null) await listSomeTenants(ground.store, { limit: 1 }); // refused now rather than on every page
    const onError = errorsOn(terminal);
    const handler = inspect(ground, { viewer, decide, onError, ...(token === undefined ? {} : { token }) });
    await using served = await listen(handler, { host, port, onError });
    tell(terminal, served, { tenantId: viewer.tenantId, decide, isLocked: token !== undefined });
    if (!stopping.aborted) await once(stopping, 'abort');
  });
}

/** With decisions to take and agents to go on with, a runtime; else the database alone, of which nothing is written. */
async function withGround(
  settings: Settings,
  terminal: Terminal,
  decide: boolean,
  work: (ground: Ground) => Promise<void>,
): Promise<void> {
  const { place: _, ...options } = settings;
  const build = buildOfSettings(settings);
  if (!decide || options.agents === undefined || options.agents.length === 0) {
    await withStore(settings, (store) =>
      work({ store, runtime: null, environment: store.environment, ...(build === undefined ? {} : { build }) }),
    );
    return;
  }
  await using runtime = await createRuntime({
    onWarning: warnOn(terminal),
    ...options,
    agents: options.agents,
    migrate: 'check',
  });
  const services = servicesOf(runtime);
  await work({ ...services, runtime, environment: services.store.environment });
}

async function listen(
  handler: FetchHandler,
  { host, port, onError }: { host: string; port: number | undefined; onError: (error: unknown) => void },
): Promise<Served> {
  try {
    return await serve(handler, { host, port: port ?? USUAL_PORT, onError });
  } catch (error) {
    if (port !== undefined || !isTaken(error)) throw error;
    return await serve(handler, { host, port: 0, onError });
  }
}

function isTaken(error: unknown): boolean {
  return isTurnlockError(error) && (error.cause as { code?: unknown } | undefined)?.code === 'EADDRINUSE';
}

function tell(
  terminal: Terminal,
  { url }: Served,
  { tenantId, decide, isLocked }: { tenantId: string | null; decide: boolean; isLocked: boolean },
): void {
  const { bold, dim } = terminal.colours;
  terminal.json({ url, tenantId, decides: decide });
  terminal.line(`Inspector: ${bold(url)}`);
  const whose = tenantId === null ? 'all tenants, which is recorded' : `tenant ${escapeText(tenantId)}`;
  const may = decide ? 'Decisions are taken' : 'Read only';
  terminal.line(dim(`${may}; ${whose}${isLocked ? '; the token is asked for' : ''}. Ctrl-C ends it.`));
}

/** Aborts with the first signal; a second one ends the process at once. */
function stopOnSignals(): AbortSignal {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  return stopping.signal;
}

async function readToken({ tokenFile }: InspectCommandOptions): Promise<string | undefined> {
  if (tokenFile === undefined) return process.env.TURNLOCK_INSPECTOR_TOKEN || undefined;
  try {
    return (await readFile(tokenFile, 'utf8')).trim();
  } catch (cause) {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `option not accepted: --token-file ${JSON.stringify(tokenFile)} (found no file that can be read)`,
      cause,
    });
  }
}

function errorsOn(terminal: Terminal): (error: unknown) => void {
  return (error) => terminal.note(escapeText(error instanceof Error ? error.message : String(error)));
}

function tokenMissing(host: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `host not accepted: ${host} (found no token, wanted one beyond loopback)`,
    hint: 'Set TURNLOCK_INSPECTOR_TOKEN to a secret of at least 16 characters, or name its file by --token-file.',
  });
}

function whoMissing(): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: 'option is missing: --by (wanted who decides, for the audit)',
    hint: 'As in --decide --by ana; --role names the roles of that person.',
  });
}
