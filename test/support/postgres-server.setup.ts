import { randomBytes } from 'node:crypto';
import type { TestProject } from 'vitest/node';
import { dropDatabases } from './database-names.ts';
import { type EmbeddedServer, startEmbeddedServer } from './embedded-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser's URL of the maintenance database of the run's server. */
    postgresUrl: string;
    /** Part of the name of every database of this run. */
    runId: string;
  }
}

interface SharedServer {
  users: number;
  readonly runId: string;
  readonly started: Promise<{ url: string; server?: EmbeddedServer }>;
}

/** Two projects of one run share the server; each loads this module for itself, so the holder hangs on the process. */
const holder = globalThis as typeof globalThis & { turnlockTestServer?: SharedServer | undefined };

/** Starts the run's one server, or takes the one that TURNLOCK_TEST_DATABASE_URL names (a superuser's URL). */
export async function setup(project: TestProject): Promise<void> {
  holder.turnlockTestServer ??= { users: 0, runId: randomBytes(4).toString('hex'), started: start() };
  const shared = holder.turnlockTestServer;
  shared.users += 1;
  project.provide('postgresUrl', (await shared.started).url);
  project.provide('runId', shared.runId);
}

/** Stops the server with the last project that used it; on a given server drops what this run made. */
export async function teardown(): Promise<void> {
  const shared = holder.turnlockTestServer;
  if (!shared) return;
  shared.users -= 1;
  if (shared.users > 0) return;
  holder.turnlockTestServer = undefined;
  const { url, server } = await shared.started;
  if (server) await server.stop();
  else await dropDatabases(url, shared.runId);
}

async function start(): Promise<{ url: string; server?: EmbeddedServer }> {
  const given = process.env.TURNLOCK_TEST_DATABASE_URL;
  if (given) return { url: given };
  const server = await startEmbeddedServer();
  return { url: server.url, server };
}
