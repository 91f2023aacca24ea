import type { Runtime } from '../../runtime/create-runtime.ts';
import { servicesOf } from '../../runtime/services-of.ts';
import type { FetchHandler } from '../http/identity.ts';
import { inspect } from './inspect.ts';
import type { InspectorOptions } from './inspector-options.ts';

/**
 * The inspector of a runtime, as a web-standard handler of requests: mount it in any server, under `basePath`, or give it to `serve` of
 * `turnlock/http`. Pages are made on the server; their one script keeps them up to date, and they work without it. It reads by the runtime's
 * own connection, drives nothing, and changes nothing unless `decide` is true. It never rejects: what goes wrong is a page that says so.
 *
 * Whoever is let in sees all that the sessions of that viewer's tenant hold, contents included; with a `userId` that user's alone.
 *
 * @throws OPTIONS_INVALID for an option that is not accepted, or another thing than a runtime. VALUE_INVALID, VALUE_TOO_LARGE for a viewer that
 * nobody can be.
 *
 * @example
 * const handler = inspector(runtime, { basePath: '/inspector', authenticate: (request) => whoIs(request) });
 */
export function inspector(runtime: Runtime, options: InspectorOptions = {}): FetchHandler {
  const { store, build } = servicesOf(runtime);
  return inspect({ store, runtime, build, environment: store.environment }, options);
}
