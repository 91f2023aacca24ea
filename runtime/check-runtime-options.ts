import { systemEnvironment } from '../environment.ts';
import { checkOptions } from './check-options.ts';
import { optionRefused } from './check-query.ts';
import type { RuntimeOptions } from './create-runtime.ts';

const RUNTIME_OPTIONS = [
  ...['database', 'agents', 'migrate', 'drive', 'limits', 'onWarning', 'onAwaiting', 'telemetry', 'log', 'retention'],
  ...['deltas', 'memory', 'environment'],
];

/**
 * The options of `createRuntime`, as far as they are only used further in, so that they would break there.
 *
 * @throws OPTIONS_INVALID for one of another kind, and for a name that is no option.
 */
export function checkRuntimeOptions<Options extends RuntimeOptions>(options: Options): Options {
  const { database, drive = true, ...given } = checkOptions(options, 'createRuntime', RUNTIME_OPTIONS);
  if (typeof database?.connect !== 'function') throw optionRefused('database', 'pglite(…) or postgres(…)');
  if (typeof drive !== 'boolean') throw optionRefused('drive', 'true or false');
  const { migrate: mode, onWarning, onAwaiting, telemetry, log, deltas, environment } = given;
  if (![undefined, null, 'auto', 'check'].includes(mode)) throw optionRefused('migrate', 'auto or check');
  if (typeof (onWarning ?? optionRefused) !== 'function') throw optionRefused('onWarning', 'a function');
  if (typeof (onAwaiting ?? optionRefused) !== 'function') throw optionRefused('onAwaiting', 'a function');
  if (typeof (log ?? optionRefused) !== 'function') throw optionRefused('log', 'a function');
  if (telemetry != null && typeof telemetry.run !== 'function')
    throw optionRefused('telemetry', 'openTelemetry(…) or your own');
  if (deltas != null && (typeof deltas.publish !== 'function' || typeof deltas.subscribe !== 'function'))
    throw optionRefused('deltas', 'inProcessDeltas() or your own');
  if (typeof (environment ?? systemEnvironment) !== 'object') throw optionRefused('environment', 'an environment');
  return options;
}
