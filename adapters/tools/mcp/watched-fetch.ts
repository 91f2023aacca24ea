import type { RequestFate } from './request-fate.ts';

/** What fetch throws as the cause where no byte of the request can have reached the server. */
const NEVER_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_|ERR_TLS_CERT|DEPTH_ZERO_SELF|SELF_SIGNED|UNABLE_TO_)/;

/** Bytes of one answer. The same as the SDK takes over standard output. */
const MAX_ANSWER_BYTES = 10 * 1024 * 1024;

/** How often the SDK tries to read on an answer that broke off. */
export const MAX_RESUMES = 2;

/** The fates of the requests that are out, by their id. */
export type Fates = ReadonlyMap<number, RequestFate>;

/**
 * `inner`, which notes on the fate of each request what the SDK does not tell: the status of its answer, whether it was sent at all, and
 * that its answer broke off for good.
 */
export function watchedFetch(
  fates: Fates,
  inner: typeof fetch = fetch,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const fate = init?.method === 'POST' ? fateOfPost(fates, init) : undefined;
    if (fate === undefined) return await watchResume(fates, init, () => inner(url, init));
    let response: Response;
    try {
      response = await inner(url, init);
    } catch (error) {
      fate.isUnsent = NEVER_SENT.test(String((error as { cause?: { code?: unknown } })?.cause?.code));
      throw error;
    }
    fate.status = response.status;
    return response.ok && response.body !== null ? watched(response, response.body, fate) : response;
  };
}

function fateOfPost(fates: Fates, { body }: RequestInit): RequestFate | undefined {
  if (fates.size === 0 || typeof body !== 'string') return undefined;
  const { id, method } = JSON.parse(body) as { id?: unknown; method?: unknown };
  return method === 'tools/call' && typeof id === 'number' ? fates.get(id) : undefined;
}

/** Reading on: after as many failures as the SDK bears, no answer comes any more. */
async function watchResume(
  fates: Fates,
  init: RequestInit | undefined,
  send: () => Promise<Response>,
): Promise<Response> {
  const token = new Headers(init?.headers).get('last-event-id');
  const fate = token === null ? undefined : [...fates.values()].find(({ resumeToken }) => resumeToken === token);
  let isOpen = false;
  try {
    const response = await send();
    isOpen = response.ok;
    return response;
  } finally {
    if (fate !== undefined && !isOpen && ++fate.failedResumes >= MAX_RESUMES) fate.lose();
  }
}

/** The response, whose end is the end of all hope for an answer unless it can be read on. */
function watched(response: Response, body: ReadableStream<Uint8Array>, fate: RequestFate): Response {
  const reader = body.getReader();
  let bytes = 0;
  const end = () => {
    if (fate.resumeToken === null) fate.lose();
  };
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          end();
          return controller.close();
        }
        bytes += value.byteLength;
        if (bytes > MAX_ANSWER_BYTES) throw new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
        controller.enqueue(value);
      } catch (error) {
        end();
        await reader.cancel().catch(() => undefined);
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(stream, { status: response.status, statusText: response.statusText, headers: response.headers });
}
