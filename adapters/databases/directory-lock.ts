import { link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { TurnlockError } from '../../errors.ts';
import { isRunning, type ProcessIdentity, processIdentity } from './process-identity.ts';

/** The names of lock files end in a number that rises with every holder. */
export const LOCK_FILE = /^turnlock\.lock\.(\d+)(?:\.[\w-]+)?$/;

/** A directory that is ours alone until it is released. */
export interface DirectoryLock {
  /** Whether its last holder died without releasing it. */
  readonly tookOverDeadHolder: boolean;
  /** Repeating it does nothing. */
  release(): Promise<void>;
}

interface Holder extends ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  readonly isReleased: boolean;
}

/**
 * Takes a directory for this process. Its lock is the lock file with the highest number; whoever finds that one released, or its holder
 * dead, creates the next number, which only one can. A slow contender may still create a number that was used and removed in the
 * meantime, so everybody looks again afterwards, and whoever is not the highest withdraws.
 *
 * @throws DATA_DIRECTORY_IN_USE when a process holds it: another one or this one, or one of another machine, of which nobody here can say
 * whether it lives.
 */
export async function lockDirectory(directory: string, newId: () => string): Promise<DirectoryLock> {
  for (;;) {
    const last = await lastNumber(directory);
    const holder = last === 0 ? undefined : await readHolder(directory, last);
    if (holder === 'gone') continue;
    if (typeof holder === 'object' && isHeld(holder)) throw inUse(directory, last, holder);
    const number = last + 1;
    if (!(await createFile(directory, number, newId()))) continue;
    if ((await lastNumber(directory)) !== number) {
      await rm(path(directory, number), { force: true });
      continue;
    }
    await removeOlder(directory, number);
    const tookOverDeadHolder = holder === 'damaged' || holder?.isReleased === false;
    return { tookOverDeadHolder, release: releaseOnce(directory, number, newId) };
  }
}

/** Under a name of its own first, so that the lock file is never seen half written. */
async function createFile(directory: string, number: number, id: string): Promise<boolean> {
  const draft = `${path(directory, number)}.${id}`;
  await writeFile(draft, record(false));
  try {
    await link(draft, path(directory, number));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** The file stays and says that it is released: were it removed, its number could be taken twice. */
function releaseOnce(directory: string, number: number, newId: () => string): () => Promise<void> {
  let releasing: Promise<void> | undefined;
  async function release(): Promise<void> {
    const draft = `${path(directory, number)}.${newId()}`;
    try {
      await writeFile(draft, record(true));
      await rename(draft, path(directory, number));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error; // somebody removed the directory
    }
  }
  return () => {
    releasing ??= release();
    return releasing;
  };
}

async function lastNumber(directory: string): Promise<number> {
  const numbers = (await readdir(directory)).flatMap((name) =>
    /^turnlock\.lock\.\d+$/.test(name) ? [numberOf(name)] : [],
  );
  return Math.max(0, ...numbers);
}

async function removeOlder(directory: string, number: number): Promise<void> {
  const older = (await readdir(directory)).filter((name) => LOCK_FILE.test(name) && numberOf(name) < number);
  await Promise.all(older.map((name) => rm(join(directory, name), { force: true })));
}

/** A record is whole when it appears under its name: one that cannot be read was damaged with the machine, and its holder is dead. */
async function readHolder(directory: string, number: number): Promise<Holder | 'gone' | 'damaged'> {
  let text: string;
  try {
    text = await readFile(path(directory, number), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'gone';
    throw error;
  }
  try {
    const holder = JSON.parse(text) as Holder;
    return holder.pid > 0 && typeof holder.host === 'string' ? holder : 'damaged';
  } catch {
    return 'damaged';
  }
}

function isHeld(holder: Holder): boolean {
  if (holder.isReleased) return false;
  return holder.host !== hostname() || isRunning(holder.pid, holder);
}

function record(isReleased: boolean): string {
  const holder: Holder = { pid: process.pid, host: hostname(), isReleased, ...processIdentity(process.pid) };
  return `${JSON.stringify(holder)}\n`;
}

function numberOf(name: string): number {
  return Number(LOCK_FILE.exec(name)?.[1]);
}

function path(directory: string, number: number): string {
  return join(directory, `turnlock.lock.${number}`);
}

function inUse(directory: string, number: number, { pid, host }: Holder): TurnlockError {
  const isHere = host === hostname();
  const who = isHere
    ? pid === process.pid
      ? `this process, ${pid}`
      : `process ${pid}`
    : `process ${pid} of host ${host}`;
  return new TurnlockError('DATA_DIRECTORY_IN_USE', {
    message: `data directory is in use: ${directory} (found ${who}, wanted none)`,
    details: { directory, pid, host },
    ...(isHere ? {} : { hint: `End that process. If it is gone for certain, remove ${path(directory, number)}.` }),
  });
}
