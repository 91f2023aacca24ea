import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processIsAlive } from './process-is-alive.ts';
import { waitFor } from './wait-for.ts';

/** Begins the name of every server's folder in the temporary folder. */
export const FOLDER_PREFIX = 'turnlock-postgres-';
/** Holds the id of the process that owns the server beside it. */
export const OWNER_FILE = 'owner.pid';

/** Ends the servers of test runs that were killed, and removes their folders. Runs that still live are left alone. */
export async function sweepLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(FOLDER_PREFIX)) continue;
    const folder = join(tmpdir(), name);
    const owner = await readPid(join(folder, OWNER_FILE));
    if (owner === undefined || processIsAlive(owner)) continue; // undefined: another run is just making it
    await endServer(join(folder, 'data'));
    await rm(folder, { recursive: true, force: true });
  }
}

async function endServer(dataFolder: string): Promise<void> {
  const pid = await readPid(join(dataFolder, 'postmaster.pid'));
  if (pid === undefined || !(await runsFrom(pid, dataFolder))) return;
  process.kill(pid, 'SIGQUIT');
  await waitFor(() => !processIsAlive(pid), { for: `the left-over server ${pid} to end` });
}

/** The id may have been given to another process since; only a command line that names the folder is ours. */
async function runsFrom(pid: number, dataFolder: string): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return commandLine.includes(dataFolder);
}

async function readPid(file: string): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return Number.isInteger(pid) ? pid : undefined;
}
