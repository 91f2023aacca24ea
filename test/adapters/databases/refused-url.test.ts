import { expect, test } from 'vitest';
import { pglite } from '../../../adapters/databases/pglite.ts';
import { refusedUrl } from '../../../adapters/databases/refused-url.ts';

test.each([
  ['postgres:/ana:hunter2@host/db', 'a URL of postgres:'],
  [' postgres://ana:hunter2@host/db', 'a URL of postgres:'],
  ['Postgres://ana:hunter2@host/db', 'a URL of Postgres:'],
  ['postgres:ana:hunter2@host/db', 'what looks like a URL'],
  ['hunter2:@host/db', 'what looks like a URL'],
  ['file:data', 'what looks like a URL'],
  ['idb://data', 'a URL of idb:'],
  ['postgres//ana:hunter2@host/db', 'what looks like a mistyped URL'],
  ['postgresql;//ana:hunter2@host/db', 'what looks like a mistyped URL'],
  ['postgres/ana:hunter2@host/db', 'what looks like a mistyped URL'],
  ['ana.b@x:hunter2@host/db', 'what looks like a mistyped URL'],
])('%j is no folder of PGlite, and of what may be a password nothing is said', (place, found) => {
  expect(refusedUrl(place)).toBe(found);
  let message = '';
  try {
    pglite(place);
  } catch (error) {
    message = String(error);
  }
  expect(message).toContain(found);
  expect(message).not.toContain('hunter2');
});

test.each([
  'data',
  './data:1',
  'data/postgres',
  './a//b',
  '../ana:b@c',
  '~/a:b@c',
  'me@work',
  '/srv/a:b',
  'C:\\turnlock',
  'c:/turnlock',
  'file:///srv/data',
  '',
])('%j is no URL that is refused', (place) => {
  expect(refusedUrl(place)).toBeNull();
});
