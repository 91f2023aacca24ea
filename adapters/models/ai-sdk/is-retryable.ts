import type { ErrorFacts } from './error-facts.ts';

/** Time-outs, conflicts and rate limits of HTTP: all others from 400 to 499 say that the request itself is refused. */
const PASSING_4XX: readonly number[] = [408, 409, 425, 429];

/** Codes of providers that no waiting of seconds changes, whatever the status: an account that is used up is told as 429. */
const LASTING =
  /quota|billing|invalid|authentication|permission|not_found|unsupported|content_filter|content_policy|too_large|context_length/;
const PASSING = /overload|rate_limit|timeout|unavailable|server_error|api_error/;

/** Errors of the SDK about the call itself: nothing was sent, or nothing of the kind can be. */
const REFUSED =
  /^AI_(LoadAPIKey|LoadSetting|NoSuchModel|NoSuchProviderReference|InvalidPrompt|InvalidArgument|InvalidMessageRole|InvalidDataContent|MessageConversion|MissingToolResults|UnsupportedFunctionality|UnsupportedModelVersion)Error$/;

/** Whether the same request may succeed later. What nobody knows is tried again: the attempts are counted. */
export function isRetryable({ name, status, codes, retryable, networkCode }: ErrorFacts): boolean {
  if (REFUSED.test(name)) return false;
  if (codes.some((code) => /quota|billing/.test(code))) return false;
  if (status !== undefined && status >= 400) return status >= 500 || PASSING_4XX.includes(status);
  if (networkCode !== undefined || codes.some((code) => PASSING.test(code))) return true;
  if (codes.some((code) => LASTING.test(code))) return false;
  // An answer that was taken (2xx) and then could not be read broke on the way, whatever the SDK makes of it.
  return status !== undefined || retryable === true || !/^AI_(APICall|Gateway)/.test(name);
}
