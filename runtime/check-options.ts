import { TurnlockError } from '../errors.ts';
import { kindOf } from '../persistence/values/kind-of.ts';

/**
 * `options`, the last argument of `call`, if it is an object: what a caller without types passes must not break further in.
 *
 * @throws OPTIONS_INVALID for anything else.
 */
export function checkOptions<Options extends object>(options: Options, call: string): Options {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options;
  throw new TurnlockError('OPTIONS_INVALID', {
    message: `options not accepted: ${call} (found ${kindOf(options)}, wanted an object)`,
  });
}
