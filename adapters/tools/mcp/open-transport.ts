import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { systemEnvironment } from '../../../environment.ts';
import { isHttp } from './check-mcp-settings.ts';
import type { McpHttp, McpStdio } from './mcp-transport.ts';
import { type Fates, MAX_RESUMES, watchedFetch } from './watched-fetch.ts';

/** Milliseconds that saying goodbye to a server may take. */
const GOODBYE_MS = 2_000;

/** A way to the server, and how its session there is ended. */
export interface OpenTransport {
  readonly transport: Transport;
  /** Whether the server gave the connection a session, whose id each request names. */
  hasSession(): boolean;
  /** Ends the session at the server, if there is one. Never throws. */
  sayGoodbye(): Promise<void>;
}

/** A transport of the SDK that is not started yet. */
export function openTransport(given: McpStdio | McpHttp, fates: Fates): OpenTransport {
  if (isHttp(given)) return overHttp(given, fates);
  const { command, args = [], env = {}, cwd, stderr = 'ignore' } = given;
  const place = cwd === undefined ? {} : { cwd };
  const transport = new StdioClientTransport({ command, args: [...args], env: { ...env }, stderr, ...place });
  return { transport, hasSession: () => false, sayGoodbye: async () => undefined };
}

function overHttp({ url, headers = {}, fetch }: McpHttp, fates: Fates): OpenTransport {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch: watchedFetch(fates, fetch),
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      reconnectionDelayGrowFactor: 2,
      maxReconnectionDelay: 2_000,
      maxRetries: MAX_RESUMES,
    },
  });
  return {
    transport,
    hasSession: () => transport.sessionId !== undefined,
    async sayGoodbye() {
      const over = new AbortController();
      const enough = systemEnvironment.sleep(GOODBYE_MS, over.signal).catch(() => undefined);
      await Promise.race([transport.terminateSession().catch(() => undefined), enough]);
      over.abort();
    },
  };
}
