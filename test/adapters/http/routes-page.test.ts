import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { chatRoutes } from '../../../adapters/http/chat/chat-routes.ts';
import { eventRoutes } from '../../../adapters/http/event-routes.ts';
import { operatingRoutes } from '../../../adapters/http/operating-routes.ts';
import { sessionRoutes } from '../../../adapters/http/session-routes.ts';

test('the page of the HTTP routes lists every route, and no other', () => {
  const page = readFileSync('docs/http.md', 'utf8');
  const listed = [...page.matchAll(/^\| `((?:GET|POST) \/\S+)` \|/gm)].map(([, route]) => route);
  const routes = [sessionRoutes(), operatingRoutes(), eventRoutes(), chatRoutes()].flatMap((app) => app.routes);
  expect(listed.toSorted()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).toSorted());
});
