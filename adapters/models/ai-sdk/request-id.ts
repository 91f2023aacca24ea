/** The id under which a provider's support finds a request. */
export function requestIdOf(headers: Readonly<Record<string, string>> | undefined): string | undefined {
  return headers?.['x-request-id'] ?? headers?.['request-id'] ?? headers?.['x-amzn-requestid'];
}
