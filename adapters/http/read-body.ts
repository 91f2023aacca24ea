import type { z } from 'zod';
import { HttpProblem } from './http-problem.ts';

/**
 * The JSON body of a request, by a schema; an empty body is `{}`.
 *
 * @throws HttpProblem 413 where it is larger than `maxBytes`, 415 for another content type and for one that is compressed, 400 for what is no JSON or does not fit.
 */
export async function readBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
  maxBytes: number,
): Promise<z.output<Schema>> {
  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw new HttpProblem(
      415,
      'MEDIA_TYPE_UNSUPPORTED',
      `The body is encoded: ${JSON.stringify(encoding)}.`,
      'Send it as it is, or let the server in front decode it and take the header away.',
      { 'accept-encoding': 'identity' },
    );
  }
  const text = await readText(request, maxBytes);
  const type = request.headers.get('content-type') ?? '';
  if (text !== '' && !/^application\/(json|[\w.+-]+\+json) *(;|$)/i.test(type)) {
    throw new HttpProblem(
      415,
      'MEDIA_TYPE_UNSUPPORTED',
      `The body is ${type === '' ? 'of no content type' : JSON.stringify(type)}.`,
      'Send JSON, with content-type: application/json.',
      { 'accept-post': 'application/json' },
    );
  }
  return readAs(parse(text), schema);
}

/** The query of a request, by a schema; of a name that is given more than once the last one counts. @throws HttpProblem 400. */
export function readQuery<Schema extends z.ZodType>(request: Request, schema: Schema): z.output<Schema> {
  return readAs(Object.fromEntries(new URL(request.url).searchParams), schema);
}

function readAs<Schema extends z.ZodType>(value: unknown, schema: Schema): z.output<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const issues = read.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join('.') || 'the whole'}: ${message}`);
  throw invalid(
    `The request does not fit. ${issues.join('. ').slice(0, 1000)}`,
    'The routes and what they take stand in docs/http.md.',
  );
}

function parse(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    throw invalid('The body is no JSON.', 'Send a JSON object.');
  }
}

function invalid(detail: string, hint: string): HttpProblem {
  return new HttpProblem(400, 'REQUEST_INVALID', detail, hint);
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  if (request.body === null) return '';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw invalid('The body is no UTF-8.', 'Send a JSON object in UTF-8.');
  }
}

function tooLarge(maxBytes: number): HttpProblem {
  return new HttpProblem(
    413,
    'BODY_TOO_LARGE',
    `The body is larger than ${maxBytes} bytes.`,
    'Send a reference instead of the content.',
  );
}
