import { randomBytes } from 'node:crypto';
import type { TestProject } from 'vitest/node';
import { type DebianServer, startDebianServer } from './debian-server.ts';

let server: DebianServer | undefined;

/** Starts the server of the vector level, and fails the run where there is none with pgvector: what is not run proves nothing. */
export async function setup(project: TestProject): Promise<void> {
  server = await startDebianServer();
  project.provide('postgresUrl', server.url);
  project.provide('runId', randomBytes(4).toString('hex'));
}

export async function teardown(): Promise<void> {
  await server?.stop();
}
