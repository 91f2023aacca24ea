import type { FetchHandler } from '../../../adapters/http/identity.ts';
import { type Parsed, parsePage } from './markup.ts';

/** A page as it was answered. */
export interface Page extends Parsed {
  status: number;
  headers: Headers;
  html: string;
}

/** Asks for a page, by a loopback name unless told otherwise. */
export async function getPage(handler: FetchHandler, path: string, init: RequestInit = {}): Promise<Page> {
  const response = await handler(new Request(`http://localhost${path}`, init));
  const html = await response.text();
  return { ...parsePage(html), status: response.status, headers: response.headers, html };
}

/** Sends a form as a browser sends it from a page of the same origin. */
export async function sendForm(
  handler: FetchHandler,
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return handler(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: 'http://localhost',
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
      body: new URLSearchParams(fields).toString(),
    }),
  );
}

/** The hidden fields of the form of a page that goes one way. */
export function fieldsOf(page: Page, way: string): Record<string, string> {
  const inputs = page.tags.filter(({ name }) => name === 'input').map(({ attributes }) => attributes);
  const start = inputs.findIndex((input) => input.get('name') === 'way' && input.get('value') === way);
  if (start < 0) throw new Error(`no form goes the way ${way}`);
  const own = inputs.slice(start, start + 6).map((input) => [input.get('name') ?? '', input.get('value') ?? '']);
  return Object.fromEntries(own);
}

/** Where the links of a page lead. */
export function linksOf({ tags }: Parsed): string[] {
  return tags.flatMap(({ name, attributes }) => (name === 'a' ? [attributes.get('href') ?? ''] : []));
}
