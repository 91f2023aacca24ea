import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { parentChannel } from '../child-channel.ts';
import { worldServer } from './world-server.ts';

/** An MCP server on the loopback address. Arguments: its folder, port (0: any), and `json` where answers are no streams, `resumable` where they can be read on. */

const [folder = '', port = '0', kind] = process.argv.slice(2);
const parent = parentChannel();
const sessions = new Map<string, StreamableHTTPServerTransport>();

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = request.headers['mcp-session-id'];
  const known = sessions.get(String(id));
  if (known !== undefined) return await known.handleRequest(request, response);
  if (id !== undefined) return void response.writeHead(404).end('no such session');
  if (request.headers.authorization === 'Bearer refused-token-1234') {
    return void response.writeHead(401).end(`refused: ${request.headers.authorization}`);
  }
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: kind === 'json',
    ...(kind === 'resumable' ? { eventStore: new InMemoryEventStore() } : {}),
    onsessioninitialized: (sessionId) => void sessions.set(sessionId, transport),
  });
  await worldServer(folder).connect(transport);
  await transport.handleRequest(request, response);
}

const server = createServer((request, response) => void answer(request, response));
server.listen(Number(port), '127.0.0.1', () => {
  void parent.say('ready', { port: (server.address() as AddressInfo).port });
});
void (async () => {
  for (;;) {
    await parent.hear('forgetSessions');
    sessions.clear();
    await parent.say('forgot');
  }
})();
void (async () => {
  for (;;) {
    await parent.hear('breakConnections');
    server.closeAllConnections();
    await parent.say('broke');
  }
})();
