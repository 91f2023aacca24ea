import { HttpProblem } from './http-problem.ts';

/**
 * The value of an `Idempotency-Key` header, `null` where there is none: a string of structured fields (RFC 9651, section 3.3.3), as the
 * draft of the header has it (draft-ietf-httpapi-idempotency-key-header, section 2.1). Parameters after it mean nothing.
 *
 * @throws HttpProblem 400 for anything else.
 */
export function readIdempotencyKey(headers: Headers): string | null {
  const field = headers.get('idempotency-key');
  if (field === null) return null;
  const [, quoted] = /^ *"((?:[ !#-[\]-~]|\\["\\])*)" *(?:;.*)?$/.exec(field) ?? [];
  const key = quoted?.replace(/\\(.)/g, '$1');
  if (key !== undefined && key !== '') return key;
  throw new HttpProblem(
    400,
    'REQUEST_INVALID',
    'The Idempotency-Key header is no string of structured fields.',
    'Send it in double quotes: Idempotency-Key: "8e03978e-40d5-43dd-bc93-6894a57f9324".',
  );
}
