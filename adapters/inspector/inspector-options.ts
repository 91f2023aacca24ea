import { TurnlockError } from '../../errors.ts';
import { MAX_CHARACTERS } from '../../limits.ts';
import { checkIdentifier } from '../../persistence/values/check-identifier.ts';
import { checkRoles, checkWho } from '../../runtime/check-message.ts';
import { checkOptions } from '../../runtime/check-options.ts';
import { checkTenant } from '../../runtime/check-query.ts';
import type { Viewer } from './viewer.ts';

/** What `inspector` takes. */
export interface InspectorOptions {
  /**
   * Says who looks, from whatever the request carries. `null`: nobody is let in (401). Default: nobody is asked; the inspector then answers
   * only requests that were sent to a loopback name.
   */
  authenticate?: (request: Request) => Viewer | null | Promise<Viewer | null>;
  /**
   * In place of `authenticate`: a secret of at least 16 characters, which is asked for on a page and kept by a cookie, or sent as
   * `Authorization: Bearer`. Whoever has it is `viewer`.
   */
  token?: string;
  /** Who looks where `authenticate` does not say. Default: somebody who sees all tenants and is called `inspector`. */
  viewer?: Viewer;
  /** Where the inspector is mounted: begins with a slash and does not end with one. Default: at the root. */
  basePath?: string;
  /**
   * Whether people approve, deny and settle here, as the viewer's `by` with the viewer's `roles`. Without `authenticate` it wants a `viewer`.
   * Default false: nothing can be changed.
   */
  decide?: boolean;
  /** Told what went wrong unexpectedly. Default: a warning of the process. */
  onError?: (error: unknown) => void;
}

const OPTIONS = ['authenticate', 'token', 'viewer', 'basePath', 'decide', 'onError'];

/** The options with their defaults. @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE. */
export function checkInspectorOptions(given: InspectorOptions) {
  const {
    authenticate,
    token,
    viewer,
    basePath = '',
    decide = false,
    onError = warn,
  } = checkOptions(given, 'inspector', OPTIONS);
  if (typeof (authenticate ?? warn) !== 'function') throw refused('authenticate', 'a function');
  if (typeof onError !== 'function') throw refused('onError', 'a function');
  if (typeof decide !== 'boolean') throw refused('decide', 'true or false');
  if (token !== undefined && (typeof token !== 'string' || token.length < MIN_TOKEN_CHARACTERS))
    throw refused('token', `a text of at least ${MIN_TOKEN_CHARACTERS} characters`);
  if (token !== undefined && authenticate !== undefined) throw refused('token', 'no authenticate beside it');
  if (typeof basePath !== 'string' || !/^(\/[\w.~-]+)*$/.test(basePath))
    throw refused('basePath', 'a path like /inspector: letters, digits and ._~- between slashes, none at the end');
  if (decide && authenticate === undefined && viewer === undefined)
    throw refused('decide', 'authenticate or a viewer beside it: the audit says who decided');
  const looks = checkViewer(viewer ?? { tenantId: null, by: 'inspector' });
  return { authenticate, token, viewer: looks, basePath, decide, onError };
}

const MIN_TOKEN_CHARACTERS = 16;

/** @throws VALUE_INVALID, VALUE_TOO_LARGE, OPTIONS_INVALID for who cannot be anybody. */
export function checkViewer(viewer: Viewer): Viewer {
  const { tenantId, userId, by, roles } = checkOptions(viewer, 'viewer');
  return {
    tenantId: tenantId === null ? null : checkTenant(tenantId),
    userId: userId == null ? null : checkIdentifier(userId, { name: 'userId', maxCharacters: MAX_CHARACTERS.userId }),
    by: checkWho(by),
    roles: checkRoles(roles),
  };
}

function refused(option: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', { message: `option not accepted: ${option} (wanted ${wanted})` });
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error.message : String(error), {
    type: 'Turnlock',
    code: 'INSPECTOR_FAILED',
  });
}
