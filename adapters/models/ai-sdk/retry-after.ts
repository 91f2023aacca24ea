/**
 * Milliseconds for which a provider asks to be left alone; `undefined` where it says nothing that can be read.
 *
 * `retry-after-ms` (OpenAI) before `retry-after`, which is seconds or a date (RFC 9110, 10.2.3). A date counts from the answer's own
 * `date`, so that no clock of ours matters.
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>): number | undefined {
  const exact = numberOf(headers['retry-after-ms']);
  if (exact !== undefined) return exact;
  const given = headers['retry-after'];
  const seconds = numberOf(given);
  if (seconds !== undefined) return seconds * 1_000;
  // Date.parse takes much that is no date, a negative number for example.
  const until = / GMT$/.test(given ?? '') ? Date.parse(given ?? '') - Date.parse(headers.date ?? '') : Number.NaN;
  return Number.isFinite(until) ? Math.max(0, until) : undefined;
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}
