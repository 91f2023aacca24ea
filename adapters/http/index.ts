/** The entry turnlock/http: sessions by HTTP, as a web-standard fetch handler. */
export type { Authenticate, FetchHandler, Identity } from './identity.ts';
export type { Problem, RequestErrorCode } from './problem.ts';
export { type Served, type ServeOptions, serve } from './serve.ts';
