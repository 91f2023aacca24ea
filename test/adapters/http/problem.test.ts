import { describe, expect, it } from 'vitest';
import { problemOf, problemResponse, requestProblem } from '../../../adapters/http/problem.ts';
import { ERROR_CODES, type ErrorCode, TurnlockError } from '../../../errors.ts';

const failed = (code: ErrorCode) =>
  problemOf(new TurnlockError(code, { message: 'db-7.internal: refused for role app', details: { host: 'db-7' } }));

describe('a problem', () => {
  it('has a status, a code and a hint for every code', () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
      expect(failed(code)).toMatchObject({ code, status: expect.any(Number), title: expect.stringMatching(/./) });
      expect(failed(code).status).toBeGreaterThanOrEqual(400);
    }
  });

  it.each([
    ['SESSION_NOT_FOUND', 404],
    ['APPROVAL_STALE', 409],
    ['SESSION_COMPLETED', 409],
    ['MESSAGE_CONFLICT', 422],
    ['VALUE_TOO_LARGE', 413],
    ['LIMIT_WAITING_MESSAGES', 429],
    ['APPROVER_NOT_ALLOWED', 403],
    ['DATABASE_UNREACHABLE', 503],
    ['COMMIT_UNKNOWN', 503],
    ['SNAPSHOT_INVALID', 500],
  ] as const)('of %s has status %i', (code, status) => {
    expect(failed(code).status).toBe(status);
  });

  it('of a failure of the service tells nothing of its inside', () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
      const problem = failed(code);
      if (problem.status < 500) expect(problem.details).toEqual({ host: 'db-7' });
      else expect(JSON.stringify(problem)).not.toContain('db-7');
    }
    expect(JSON.stringify(problemOf(new Error('password=hunter2')))).not.toContain('hunter2');
  });

  it('is problem+json, is not stored, and says when to come back', async () => {
    const response = problemResponse(failed('SESSION_BUSY'));
    expect(response.status).toBe(409);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({
      type: 'urn:turnlock:error:SESSION_BUSY',
      title: 'Conflict',
      status: 409,
      retryable: true,
    });
    const final = problemResponse(requestProblem(404, 'ROUTE_NOT_FOUND', 'No such route.', 'Look at the docs.'));
    expect(final.headers.get('retry-after')).toBeNull();
  });

  it('survives details that JSON cannot hold', () => {
    const details: Record<string, unknown> = {};
    details.self = details;
    expect(problemOf(new TurnlockError('SESSION_NOT_FOUND', { message: 'x', details })).details).toEqual({});
  });
});
