/** A refund as a test asks for it. */
export interface RefundRequest {
  orderId?: string;
  cents?: number;
  key?: string;
  token?: number;
  scope?: string;
  /** How this one request is treated. */
  behaviour?: object;
  signal?: AbortSignal;
}

/** Asks the payments service at `url` for a refund, of order 42 unless told otherwise. */
export async function askRefund(url: string, request: RefundRequest = {}): Promise<{ status: number; body: unknown }> {
  const { orderId = '42', cents = 4_900, key, token, scope, behaviour, signal } = request;
  const headers = {
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...(token === undefined ? {} : { 'fencing-token': String(token), 'fencing-scope': scope ?? 'session' }),
    ...(behaviour === undefined ? {} : { 'payments-behaviour': JSON.stringify(behaviour) }),
  };
  const body = JSON.stringify({ orderId, cents });
  const answer = await fetch(`${url}/refunds`, { method: 'POST', headers, body, signal: signal ?? null });
  return { status: answer.status, body: await answer.json() };
}

/** Asks what was refunded: `query` as in `orderId=42`. */
export async function askRefunds(url: string, query = ''): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${url}/refunds?${query}`);
  return { status: answer.status, body: await answer.json() };
}
