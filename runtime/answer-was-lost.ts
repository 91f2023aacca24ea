/**
 * What an error of a network says of the request. `lost`: it may have arrived, and nothing says what came of it. `unsent`: it cannot have
 * arrived.
 *
 * Sources: Node's error codes and those of libuv (nodejs.org/api/errors.html), undici's Errors.md, the DOM's names of exceptions
 * (webidl.spec.whatwg.org), PostgreSQL's manual, appendix A, and our own docs/errors.md.
 */
const FATES: Readonly<Record<string, 'lost' | 'unsent'>> = {
  // The connection stood, and broke.
  ECONNRESET: 'lost',
  ECONNABORTED: 'lost',
  EPIPE: 'lost',
  ETIMEDOUT: 'lost',
  ESOCKETTIMEDOUT: 'lost',
  ERR_STREAM_PREMATURE_CLOSE: 'lost',
  ERR_HTTP2_STREAM_ERROR: 'lost',
  ERR_HTTP2_STREAM_CANCEL: 'lost',
  ERR_HTTP2_SESSION_ERROR: 'lost',
  UND_ERR_SOCKET: 'lost',
  UND_ERR_HEADERS_TIMEOUT: 'lost',
  UND_ERR_BODY_TIMEOUT: 'lost',
  UND_ERR_ABORTED: 'lost',
  UND_ERR_DESTROYED: 'lost',
  // Somebody stopped waiting: `AbortSignal.timeout`, or an abort of the tool's own.
  TimeoutError: 'lost',
  AbortError: 'lost',
  ABORT_ERR: 'lost',
  // A database, of the tool's own or ours, does not know how a transaction ended.
  '08007': 'lost',
  '40003': 'lost',
  COMMIT_UNKNOWN: 'lost',
  // There was no connection by which it could have gone.
  ECONNREFUSED: 'unsent',
  ENOTFOUND: 'unsent',
  EAI_AGAIN: 'unsent',
  UND_ERR_CONNECT_TIMEOUT: 'unsent',
};

/** What a connection is made by: an error of these came before anything could be sent, whatever its code is. */
const BEFORE_SENDING: readonly unknown[] = ['connect', 'getaddrinfo'];

/** Causes and parts that are looked at: a chain may be endless. */
const MAX_DEPTH = 8;
const MAX_PARTS = 16;

type Fate = 'lost' | 'unsent' | null;

/**
 * Whether what a tool threw is the loss of an answer: then it says nothing about the act, which may have happened. Everything else that is
 * thrown is the word of its tool that it was not done. Never throws.
 */
export function answerWasLost(thrown: unknown): boolean {
  return fateOf(thrown, 0) === 'lost';
}

/** The outermost error that is known counts; of several that happened side by side, one that was lost. */
function fateOf(error: unknown, depth: number): Fate {
  if (depth >= MAX_DEPTH || (typeof error !== 'object' && typeof error !== 'function') || error === null) return null;
  const parts = fateOfParts(read(error, 'errors'), depth);
  if (parts !== null) return parts;
  if (BEFORE_SENDING.includes(read(error, 'syscall'))) return 'unsent';
  return known(read(error, 'code')) ?? known(read(error, 'name')) ?? fateOf(read(error, 'cause'), depth + 1);
}

/** Of an AggregateError: Node gives one where none of several addresses could be reached, with the code of the first. */
function fateOfParts(errors: unknown, depth: number): Fate {
  if (!isList(errors)) return null;
  const fates: Fate[] = [];
  for (let place = 0; place < Math.min(errors.length, MAX_PARTS); place += 1) {
    fates.push(fateOf(read(errors, String(place)), depth + 1));
  }
  if (fates.includes('lost')) return 'lost';
  return fates.length > 0 && fates.every((fate) => fate === 'unsent') ? 'unsent' : null;
}

function isList(value: unknown): value is unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false; // a proxy that was revoked
  }
}

function known(name: unknown): Fate {
  return typeof name === 'string' && Object.hasOwn(FATES, name) ? FATES[name]! : null;
}

/** A property of anything at all: `undefined` where reading it throws. */
function read(value: unknown, property: string): unknown {
  try {
    return (value as Record<string, unknown>)[property];
  } catch {
    return undefined;
  }
}
