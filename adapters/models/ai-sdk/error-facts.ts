/** What an error of a provider says, whichever of the SDK's packages, and whichever copy of it, made it. */
export interface ErrorFacts {
  /** Of the class. */
  name: string;
  message: string;
  /** HTTP status, or what the SDK takes for one. */
  status?: number;
  /** The provider's own word for it, for example `overloaded_error` or `insufficient_quota`. */
  codes: string[];
  /** What the SDK thinks. */
  retryable?: boolean;
  headers: Readonly<Record<string, string>>;
  /** Of a connection that failed, for example `ECONNREFUSED`. */
  networkCode?: string;
}

const MAX_CAUSES = 5;

/** Reads the facts without `instanceof`: errors cross package copies, wrappers and, in a stream, arrive as plain objects. */
export function factsOf(thrown: unknown): ErrorFacts {
  const chain = causesOf(thrown);
  const [outer] = chain;
  const first = <T>(read: (error: Thing) => T | undefined) => chain.map(read).find((found) => found !== undefined);
  const payloads = chain.flatMap(payloadsOf);
  const retryable = first(({ isRetryable }) => (typeof isRetryable === 'boolean' ? isRetryable : undefined));
  const status = first(({ statusCode }) => (typeof statusCode === 'number' ? statusCode : undefined));
  const networkCode = first(({ code }) =>
    typeof code === 'string' && /^(E[A-Z]+|UND_[A-Z_]+)$/.test(code) ? code : undefined,
  );
  return {
    name: textOf(outer?.name) ?? typeof thrown,
    message:
      textOf(outer?.message) ?? payloads.map(({ message }) => textOf(message)).find(Boolean) ?? textOf(thrown) ?? '',
    codes: [...new Set(payloads.flatMap(({ code, type }) => [code, type].map(codeOf).filter((one) => one !== null)))],
    headers: (first(({ responseHeaders }) => asThing(responseHeaders)) ?? {}) as Record<string, string>,
    ...(retryable === undefined ? {} : { retryable }),
    ...(status === undefined ? {} : { status }),
    ...(networkCode === undefined ? {} : { networkCode }),
  };
}

type Thing = Readonly<Record<string, unknown>>;

function causesOf(thrown: unknown): Thing[] {
  const chain: Thing[] = [];
  for (let error = asThing(thrown); error !== undefined && chain.length < MAX_CAUSES; error = asThing(error.cause)) {
    chain.push(error);
  }
  return chain;
}

/** Where providers put their codes: inner objects first, since the outer `type` often says no more than `error`. */
function payloadsOf(error: Thing): Thing[] {
  const body = parsed(error.responseBody);
  const inner = [
    asThing(error.data)?.error,
    error.data,
    asThing(body)?.error,
    error.error,
    asThing(error.response)?.error,
  ];
  return [...inner, error].map(asThing).filter((one) => one !== undefined);
}

function codeOf(code: unknown): string | null {
  const text = typeof code === 'number' ? String(code) : code;
  return typeof text === 'string' && text !== 'error' && /^[\w.-]{1,64}$/.test(text) ? text : null;
}

function parsed(body: unknown): unknown {
  try {
    return typeof body === 'string' ? JSON.parse(body) : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function asThing(value: unknown): Thing | undefined {
  return typeof value === 'object' && value !== null ? (value as Thing) : undefined;
}
