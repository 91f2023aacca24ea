import { Hono } from 'hono';
import type { Runtime } from '../../runtime/create-runtime.ts';
import { identify } from './asked.ts';
import { chatRoutes } from './chat/chat-routes.ts';
import { eventRoutes } from './event-routes.ts';
import { HttpProblem } from './http-problem.ts';
import type { FetchHandler } from './identity.ts';
import { operatingRoutes } from './operating-routes.ts';
import { type HttpHandlerOptions, readOptions } from './options.ts';
import { problemOf, problemResponse, requestProblem } from './problem.ts';
import { type HttpEnv, sessionRoutes } from './session-routes.ts';

/**
 * Sessions by HTTP, as a web-standard handler: give it to `serve` of this entry, or mount it in a server of your own. The process that takes
 * a message drives its run, so it streams; a client that goes away never cancels one. The routes stand in docs/http.md.
 *
 * Everything is seen and done in the tenant of the identity, and where that is bound to a user, in that user's sessions; others are not
 * found. Decisions are those of the identity, whatever a body says. The handler never throws: errors are problem details (RFC 9457).
 *
 * @throws OPTIONS_INVALID for options that are not accepted, and where there is neither `authenticate` nor `identity`.
 *
 * @example
 * const handler = httpHandler(runtime, { authenticate: (request) => identityOf(request.headers.get('authorization')) });
 * const { url } = await serve(handler, { port: 3000 });
 */
export function httpHandler(runtime: Runtime, options: HttpHandlerOptions): FetchHandler {
  const settings = readOptions(options);
  const app = new Hono<HttpEnv>({ strict: false }).basePath(settings.basePath);
  app.use(async (context, next) => {
    const request = context.req.raw;
    const identity = await identify(settings, request);
    context.set('asked', { runtime, settings, request, identity });
    await next();
  });
  for (const routes of [sessionRoutes(), operatingRoutes(), eventRoutes(), chatRoutes()]) app.route('/', routes);
  const methods = methodsByPath(app);
  app.notFound((context) => {
    const allowed = [...methods].flatMap(([path, of]) => (path.test(context.req.path) ? of : []));
    if (allowed.length === 0) {
      return problemResponse(requestProblem(404, 'ROUTE_NOT_FOUND', 'There is no such route.', 'See docs/http.md.'));
    }
    return problemResponse(
      requestProblem(405, 'METHOD_NOT_ALLOWED', `The route does not take ${context.req.method}.`, 'See docs/http.md.'),
      { allow: allowed.join(', ') },
    );
  });
  const answerError = (error: unknown, request: Request): Response => {
    if (error instanceof HttpProblem) return problemResponse(error.problem, error.headers);
    const problem = problemOf(error);
    if (problem.status >= 500) tell(settings.onError, error, request);
    return problemResponse(problem);
  };
  app.onError((error, context) => answerError(error, context.req.raw));
  const handle = async (request: Request): Promise<Response> => {
    try {
      return await app.fetch(request);
    } catch (error) {
      return answerError(error, request); // what was thrown is no Error
    }
  };
  return Object.assign(handle, { authenticates: settings.authenticate !== null });
}

/** The host's function must not break an answer. */
function tell(onError: (error: unknown, request: Request) => void, error: unknown, request: Request): void {
  try {
    onError(error, request);
  } catch {
    // It was told.
  }
}

function methodsByPath({ routes }: Hono<HttpEnv>): Map<RegExp, string[]> {
  const byPath = new Map<string, string[]>();
  for (const { method, path } of routes) {
    if (method !== 'ALL') byPath.set(path, [...(byPath.get(path) ?? []), method === 'GET' ? 'GET, HEAD' : method]);
  }
  return new Map(
    [...byPath].map(([path, methods]) => [
      new RegExp(`^${path.replace(/\./g, '\\.').replace(/:\w+/g, '[^/]+')}/?$`),
      methods,
    ]),
  );
}
