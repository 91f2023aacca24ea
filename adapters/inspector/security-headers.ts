/**
 * What a page may do: show what this server sends, and send forms to it. No script or style inside a page, no frame around it, nothing from
 * elsewhere. The referrer stays within: without one browsers would send forms with the origin `null`.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

/** `response` with them. Pages are not stored; files with a digest in their name are. */
export function secured(response: Response): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) headers.set(name, value);
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
  const { status, statusText, body } = response;
  return new Response(body, { status, statusText, headers });
}
