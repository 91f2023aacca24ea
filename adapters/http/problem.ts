import { STATUS_CODES } from 'node:http';
import { type ErrorCategory, type ErrorCode, isTurnlockError, type TurnlockError } from '../../errors.ts';

/** What is wrong with a request itself, before any runtime was asked. */
export type RequestErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'HOST_NOT_ALLOWED'
  | 'ORIGIN_NOT_ALLOWED'
  | 'ROUTE_NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'REQUEST_INVALID'
  | 'BODY_TOO_LARGE'
  | 'MEDIA_TYPE_UNSUPPORTED'
  | 'IN_PROGRESS'
  | 'INTERNAL_ERROR';

/** An error as a response says it: problem details (RFC 9457), with Turnlock's code beside them. */
export interface Problem {
  /** `urn:turnlock:error:` and the code. */
  type: string;
  /** The phrase of the status. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** What happened, to what. Of a failure of the service (500 and above) it says no more than that. */
  detail: string;
  /** For programs: stable. */
  code: ErrorCode | RequestErrorCode;
  /** Whether the same request, repeated as it is, may succeed and does no harm. */
  retryable: boolean;
  /** What to do. */
  hint: string;
  /** Ids, found and wanted. Absent for a failure of the service. */
  details?: Readonly<Record<string, unknown>>;
}

const BY_CATEGORY: Readonly<Record<ErrorCategory, number>> = {
  usage: 400,
  state: 409,
  conflict: 409,
  transient: 503,
  commitUnknown: 503,
  work: 422,
  limit: 422,
  version: 503,
  bug: 500,
};

/** Codes for which HTTP has a better word than for their category. */
const BY_CODE: Readonly<Partial<Record<ErrorCode, number>>> = {
  SESSION_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  EXECUTION_NOT_FOUND: 404,
  APPROVER_NOT_ALLOWED: 403,
  AGENT_UNKNOWN: 422,
  VALUE_INVALID: 422,
  OPTIONS_INVALID: 422,
  PARAMS_INVALID: 422,
  OUTCOME_INVALID: 422,
  // The key of a message with another content: the draft of the Idempotency-Key header, section 2.7.
  MESSAGE_CONFLICT: 422,
  VALUE_TOO_LARGE: 413,
  LIMIT_WAITING_MESSAGES: 429,
  RUNTIME_CLOSED: 503,
  // Of these only the operator can repair anything.
  PRIVILEGE_MISSING: 500,
  DATABASE_LOGIN_REFUSED: 500,
  CONFIG_INVALID: 500,
  DEFINITION_INVALID: 500,
  TRANSACTION_REENTRANT: 500,
};

/** Seconds after which what passes by itself is worth another try. */
const RETRY_AFTER_SECONDS = 1;

/** The problem that a caught error is for a client. What only the operator should see (hosts, roles, a stack) is left out. */
export function problemOf(error: unknown): Problem {
  if (!isTurnlockError(error)) {
    return requestProblem(
      500,
      'INTERNAL_ERROR',
      'The service failed.',
      'Nothing is known of it here; its log says more.',
    );
  }
  const status = BY_CODE[error.code] ?? BY_CATEGORY[error.category] ?? 500;
  const { code, hint, retryable } = error;
  if (status >= 500) {
    const isPassing = status === 503;
    const detail = isPassing ? 'The service cannot do it at this moment.' : 'The service failed.';
    const after = error.category === 'commitUnknown' ? hint : isPassing ? 'Repeat it later.' : 'Its log says more.';
    return { ...named(status, code), detail, retryable: retryable || error.category === 'commitUnknown', hint: after };
  }
  return { ...named(status, code), detail: error.message, retryable, hint, details: shown(error) };
}

/** A problem with the request itself. */
export function requestProblem(status: number, code: RequestErrorCode, detail: string, hint: string): Problem {
  return { ...named(status, code), detail, retryable: status === 503 || code === 'IN_PROGRESS', hint };
}

/** The response that says it: `application/problem+json`, never stored, with `Retry-After` where another try may succeed. */
export function problemResponse(problem: Problem, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(problem.retryable || problem.status === 503 || problem.status === 429
        ? { 'retry-after': String(RETRY_AFTER_SECONDS) }
        : {}),
      ...headers,
    },
  });
}

function named<Code extends Problem['code']>(status: number, code: Code) {
  return { type: `urn:turnlock:error:${code}`, title: STATUS_CODES[status] ?? 'Error', status, code };
}

/** What an error says of itself in `details`, as JSON can hold it. */
function shown({ details }: TurnlockError): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(JSON.stringify(details)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
