/** A loopback name or address, without port: what can only be this machine. */
export function isLoopbackName(name: string): boolean {
  return /^(localhost|([a-z0-9-]+\.)+localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(name);
}

/**
 * Whether the request was sent to a loopback name. A page of another site whose name leads to this machine (DNS rebinding) sends its own
 * name: the browser takes the answer for that site's.
 */
export function isSentToLoopback(request: Request): boolean {
  const host = request.headers.get('host');
  return isLoopbackName(new URL(request.url).hostname) && (host === null || isLoopbackName(withoutPort(host)));
}

/**
 * Whether a request that changes something comes from a page that may: one of the same origin or of `origins`, or no page at all (a program
 * names no origin). By what browsers say themselves: `Sec-Fetch-Site`, or `Origin` against the host that was asked.
 */
export function isOriginAllowed(request: Request, origins: readonly string[] = []): boolean {
  if (['GET', 'HEAD', 'OPTIONS'].includes(request.method)) return true;
  const origin = request.headers.get('origin');
  if (origin !== null && origins.includes(origin)) return true;
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  if (origin === null) return true;
  const asked = request.headers.get('host') ?? new URL(request.url).host;
  // The scheme is left out: behind a proxy that ends TLS the request itself is plain.
  return URL.canParse(origin) && new URL(origin).host.toLowerCase() === asked.toLowerCase();
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}
