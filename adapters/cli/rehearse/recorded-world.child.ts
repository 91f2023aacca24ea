import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { linkToParent } from '../children/parent-link.ts';
import type { Act } from './act.ts';
import { readTranscripts, type TranscriptSource } from './read-transcripts.ts';
import { RecordedWorld, type SeenAct } from './recorded-world.ts';

/** What the process of the outside world can be asked. */
export type WorldMethods = {
  /** Serves the recorded tools on a loopback port. Each answer takes `toolMs`. */
  open(question: { source: TranscriptSource; toolMs: number }): Promise<{ port: number }>;
  /** How many requests are under way; they are forgotten then. Asked when their caller has just been killed. */
  takeOpen(): Promise<number>;
  seen(): Promise<SeenAct[]>;
};

/** What it tells: a tool has begun. */
export type WorldNotices = { began: { isNew: boolean } };

let world = new RecordedWorld([]);
let toolMs = 0;
const open = new Set<ServerResponse>();

const parent = linkToParent<WorldNotices>({
  async open({ source, toolMs: given }: Parameters<WorldMethods['open']>[0]) {
    world = new RecordedWorld(await readTranscripts(source));
    toolMs = given;
    const server = createServer((request, response) => {
      serve(request, response).catch(() => response.destroy()); // its caller was killed in the middle of a request
    });
    server.keepAliveTimeout = 0; // never: a request must not meet a connection that is being closed
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { port: (server.address() as AddressInfo).port };
  },
  async takeOpen() {
    const count = open.size;
    open.clear();
    return count;
  },
  seen: async () => world.seen(),
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  const { act, key } = JSON.parse(body) as { act: Act; key: string };
  open.add(response);
  void parent.tell('began', { isNew: world.note(act, key) });
  await wait(toolMs);
  open.delete(response);
  const output = world.outputOf(act);
  response.statusCode = output === undefined ? 404 : 200;
  response.end(JSON.stringify(output ?? 'no such act in the recordings'));
}
