import { TurnlockError } from '../errors.ts';
import { kindOf } from '../persistence/values/kind-of.ts';

/**
 * `options`, the last argument of `call`, if it is an object with none but the `known` names: what a caller without types passes must not
 * break further in, and a name that is ignored in silence could be what somebody relies on.
 *
 * @throws OPTIONS_INVALID for anything else.
 */
export function checkOptions<Options extends object>(
  options: Options,
  call: string,
  known?: readonly string[],
): Options {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw refused(call, kindOf(options), 'an object');
  }
  const unknown = known && Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw refused(call, JSON.stringify(unknown), `only ${known?.join(', ')}`);
  return options;
}

function refused(call: string, found: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `options not accepted: ${call} (found ${found}, wanted ${wanted})`,
  });
}
