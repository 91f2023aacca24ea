import { randomUUID } from 'node:crypto';
import { httpHandler } from '../../../adapters/http/http-handler.ts';
import type { FetchHandler, Identity } from '../../../adapters/http/identity.ts';
import type { HttpHandlerOptions } from '../../../adapters/http/options.ts';
import { type Served, serve } from '../../../adapters/http/serve.ts';
import type { Runtime } from '../../../index.ts';
import { atTestEnd } from '../../support/at-test-end.ts';

/** Who asks, by the token that he sends: `tenant/user/role,role`; `*` in place of the user for somebody who is bound to none. */
export function identityOf(request: Request): Identity | null {
  const [, token] = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '') ?? [];
  if (token === undefined) return null;
  const [tenantId = '', userId = '', roles = ''] = token.split('/');
  return {
    tenantId,
    userId: userId === '*' ? null : userId,
    by: userId === '*' ? 'operator' : userId,
    roles: roles === '' ? [] : roles.split(','),
  };
}

/** What is asked of a handler, and by whom. */
export interface Ask {
  as?: string;
  headers?: Record<string, string>;
  body?: unknown;
  raw?: string;
}

/** A handler with what a test asks it. */
export interface HttpScene {
  handler: FetchHandler;
  errors: unknown[];
  ask(method: string, path: string, ask?: Ask): Promise<Response>;
  /** The same on a real server on loopback, closed at the test's end. */
  served(): Promise<Served>;
}

export const OPERATOR = 'tenant/*/lead';
export const USER = 'tenant/user';

export function httpScene(runtime: Runtime, options: Partial<HttpHandlerOptions> = {}): HttpScene {
  const errors: unknown[] = [];
  const handler = httpHandler(runtime, {
    authenticate: identityOf,
    onError: (error) => errors.push(error),
    ...options,
  });
  return {
    handler,
    errors,
    ask: (method, path, { as = OPERATOR, headers = {}, body, raw } = {}) =>
      handler(
        new Request(`http://service.test${path}`, {
          method,
          headers: {
            authorization: `Bearer ${as}`,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          ...(raw === undefined ? {} : { body: raw }),
        }),
      ),
    served: async () => {
      const served = await serve(handler);
      atTestEnd(() => served.close());
      return served;
    },
  };
}

/** A new idempotency key, as the header has it. */
export function newKey(): string {
  return `"${randomUUID()}"`;
}

/** A message of an event stream. */
export interface StreamedEvent {
  event: string;
  id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: data of every event
  data: any;
}

/** The events of a response, comments left out. */
export async function* eventsIn(response: Response): AsyncGenerator<StreamedEvent, void> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const messages = text.split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const fields = new Map(
        message.split('\n').flatMap((line) => {
          const [, name, value] = /^(\w+): (.*)$/.exec(line) ?? [];
          return name === undefined ? [] : [[name, value ?? '']];
        }),
      );
      const data = fields.get('data');
      if (data !== undefined) {
        yield {
          event: fields.get('event') ?? 'message',
          id: fields.get('id') ?? null,
          data: data === '[DONE]' ? data : JSON.parse(data),
        };
      }
    }
  }
}
