import { TurnlockError } from '../errors.ts';
import type { Services } from './services.ts';

const SERVICES = new WeakMap<object, Services>();

/** Lets the edges of this package find what stands behind a runtime. */
export function noteServices(runtime: object, services: Services): void {
  SERVICES.set(runtime, services);
}

/**
 * What stands behind a runtime, for edges that read more than its methods show.
 *
 * @throws OPTIONS_INVALID for what `createRuntime` of this copy of the package did not make.
 */
export function servicesOf(runtime: object): Services {
  const services = typeof runtime === 'object' && runtime !== null ? SERVICES.get(runtime) : undefined;
  if (services !== undefined) return services;
  throw new TurnlockError('OPTIONS_INVALID', {
    message: 'runtime not accepted (wanted what createRuntime of the same copy of the package returned)',
    hint: 'Two copies of turnlock in one process do not know each other: `npm ls turnlock` shows them.',
  });
}
