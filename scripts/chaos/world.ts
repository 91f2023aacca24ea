import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { postgres } from '../../adapters/databases/postgres.ts';
import { createRuntime } from '../../index.ts';
import { type EmbeddedServer, startEmbeddedServer } from '../../test/support/embedded-server.ts';
import { type Act, chaosAgent } from './chaos-agent.ts';

/** A server, its sessions, and a ledger outside of it. */
export interface World {
  server: EmbeddedServer;
  ledger: string;
  /** A folder for compiled code. */
  codeCache: string;
  sessionIds: string[];
  /** Every act so far, by whatever process. */
  acts(): Act[];
  /** Rows, as the owner of the tables. Asked again while the server is away. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of arbitrary statements
  query(text: string, values?: unknown[]): Promise<any[]>;
  close(): Promise<void>;
}

/** Starts a server and makes so many sessions. Processes die here, no machine does: what was written need not be forced to the disk. */
export async function openWorld(sessions: number): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'turnlock-chaos-'));
  const ledger = join(folder, 'ledger.jsonl');
  const server = await startEmbeddedServer();
  const pool = new pg.Pool({ connectionString: server.url, max: 3 });
  pool.on('error', () => undefined);
  const sessionIds = await makeSessions(server.url, sessions);
  return {
    server,
    ledger,
    codeCache: join(folder, 'code'),
    sessionIds,
    acts: () => readActs(ledger),
    async query(text, values) {
      for (let left = 100; ; left -= 1) {
        try {
          return (await pool.query(text, values)).rows;
        } catch (error) {
          const isAway = !/^(42|23|22|TL)/.test((error as { code?: string }).code ?? '');
          if (!isAway || left === 0) throw error;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      }
    },
    async close() {
      await pool.end();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function makeSessions(url: string, count: number): Promise<string[]> {
  const agent = chaosAgent(() => undefined);
  const runtime = await createRuntime({
    database: postgres(url),
    agents: [agent],
    migrate: 'auto',
    onWarning: () => undefined,
  });
  const made = Array.from({ length: count }, (_, place) =>
    runtime.createSession({ agent: 'chaos', tenantId: 'chaos', userId: 'user', externalId: `session-${place}` }),
  );
  const sessions = await Promise.all(made);
  await runtime.close();
  return sessions.map(({ sessionId }) => sessionId);
}

function readActs(ledger: string): Act[] {
  if (!existsSync(ledger)) return [];
  const lines = readFileSync(ledger, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Act);
}
