import { type Environment, systemEnvironment } from '../../environment.ts';
import { TurnlockError } from '../../errors.ts';
import type { WhenBusy } from '../../persistence/inbox.ts';
import { type Authenticate, checkIdentity, type Identity } from './identity.ts';

/** What somebody wants to do. */
export type HttpAction = 'create' | 'read' | 'send' | 'decide' | 'control' | 'settle' | 'explain';

/** What `httpHandler` takes. */
export interface HttpHandlerOptions {
  /**
   * Says who asks, for every request. Without it the handler answers only what is sent to a loopback name, and `serve` does not let it be
   * reached beyond loopback. Either this or `identity`.
   */
  authenticate?: Authenticate;
  /** Who everybody is where nobody is asked who he is: for a developer's machine and tests. */
  identity?: Identity;
  /**
   * Whether somebody may do something, asked once who it is and whose session it is are known. `false`: 403. Default: everything but
   * `settle` and `explain` for who is bound to one user, who then decides only about calls whose `approvers` name him; everything for who is
   * not. `true` for `decide` lets him decide also where the policy names nobody: a user must be meant to approve his own calls.
   */
  authorize?: (identity: Identity, action: HttpAction, request: Request) => boolean | Promise<boolean>;
  /** What stands before every path, for example `/api`. Default none. */
  basePath?: string;
  /** The largest body that is read, in bytes. Default 1 MiB. */
  maxBodyBytes?: number;
  /** How long a request waits for its run to rest before it is answered with 202, in milliseconds. Default 30 000. */
  waitMs?: number;
  /** How often an open stream that has nothing to say sends a comment, in milliseconds. Default 15 000. */
  heartbeatMs?: number;
  /** Origins beside its own whose pages may change something, for example `https://app.example`. Default none. */
  origins?: readonly string[];
  /** Chats of the AI SDK's `useChat`. */
  chat?: {
    /** The agent of a chat that is new. Default: what the request's body says as `agent`. */
    agent?: string | ((identity: Identity) => string);
    /** What a message does while its session is busy. Default `enqueue`. */
    whenBusy?: WhenBusy;
  };
  /** Told what ends in a status of 500 or above, and what ends a stream. Default: a warning of the process. */
  onError?: (error: unknown, request: Request) => void;
  /** Clock and waiting. For tests. */
  environment?: Environment;
}

/** The same, checked and with its defaults. */
export type HttpSettings = Omit<Required<HttpHandlerOptions>, 'authenticate' | 'identity'> & {
  authenticate: Authenticate | null;
  identity: Identity | null;
  /** Whether who is bound to a user decides about calls of which the policy names no approvers. */
  letsOwnersDecide: boolean;
};

const KNOWN = [
  ...['authenticate', 'identity', 'authorize', 'basePath', 'maxBodyBytes', 'waitMs', 'heartbeatMs', 'origins', 'chat'],
  ...['onError', 'environment'],
];

/** @throws OPTIONS_INVALID. */
export function readOptions(options: HttpHandlerOptions): HttpSettings {
  if (typeof options !== 'object' || options === null) throw refused('options', 'an object');
  const unknown = Object.keys(options).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) throw refused(unknown, `only ${KNOWN.join(', ')}`);
  const { authenticate = null, identity = null, basePath = '', origins = [], chat = {} } = options;
  if ((authenticate === null) === (identity === null)) {
    throw refused('authenticate', 'a function, or `identity` in its place: one of both');
  }
  if (authenticate !== null && typeof authenticate !== 'function') throw refused('authenticate', 'a function');
  if (!/^(\/[\w.~-]+)*$/.test(basePath)) throw refused('basePath', 'a path such as /api');
  return {
    authenticate,
    identity: identity === null ? null : checkIdentity(identity),
    authorize: options.authorize ?? mayByDefault,
    letsOwnersDecide: options.authorize !== undefined,
    basePath,
    maxBodyBytes: positive(options.maxBodyBytes ?? 1_048_576, 'maxBodyBytes'),
    waitMs: positive(options.waitMs ?? 30_000, 'waitMs'),
    heartbeatMs: positive(options.heartbeatMs ?? 15_000, 'heartbeatMs'),
    origins,
    chat,
    onError: options.onError ?? warn,
    environment: options.environment ?? systemEnvironment,
  };
}

function mayByDefault({ userId }: Identity, action: HttpAction): boolean {
  return userId === null || (action !== 'settle' && action !== 'explain');
}

function positive(value: number, name: string): number {
  if (Number.isInteger(value) && value > 0 && value <= 2 ** 31 - 1) return value;
  throw refused(name, 'a whole number from 1');
}

function refused(option: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `option not accepted: ${option} of httpHandler (wanted ${wanted})`,
  });
}

function warn(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.emitWarning(message, { type: 'Turnlock', code: 'HTTP_FAILED' });
}
