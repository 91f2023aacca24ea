/** The entry turnlock/http: sessions by HTTP, as a web-standard fetch handler. */
export type { ApprovalDescriptor, ChatMessage, ChatPart, ChatToolPart, UnknownOutcome } from './chat/chunks.ts';
export { httpHandler } from './http-handler.ts';
export type { Authenticate, FetchHandler, Identity } from './identity.ts';
export type { HttpAction, HttpHandlerOptions } from './options.ts';
export type { Problem, RequestErrorCode } from './problem.ts';
export { type Served, type ServeOptions, serve } from './serve.ts';
