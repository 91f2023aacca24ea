import { readFileSync } from 'node:fs';

/** What tells a process from a later one with the same number; `null` where the system does not say. */
export interface ProcessIdentity {
  /** Changes with every start of the machine. */
  readonly bootId: string | null;
  /** Ticks from the machine's start to the process's. */
  readonly startTicks: string | null;
}

/** Reads the identity of a process on this machine from `/proc`; nothing is known elsewhere, or when there is no such process. */
export function processIdentity(pid: number): ProcessIdentity {
  return {
    bootId: read('/proc/sys/kernel/random/boot_id')?.trim() ?? null,
    startTicks: statusFields(pid)?.[19] ?? null,
  };
}

/** Whether a process runs that is the one of `identity`: dead, ended but not yet reaped, and another one of the same number do not count. */
export function isRunning(pid: number, identity: ProcessIdentity): boolean {
  if (!exists(pid)) return false;
  const now = processIdentity(pid);
  if (differs(now.bootId, identity.bootId) || differs(now.startTicks, identity.startTicks)) return false;
  return !/^[ZX]$/.test(statusFields(pid)?.[0] ?? '');
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // another user's
  }
}

function differs(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one !== other;
}

/** The fields of `/proc/PID/stat` after the command's name, which may hold spaces: the first is the state, the twentieth the start. */
function statusFields(pid: number): string[] | undefined {
  const status = read(`/proc/${pid}/stat`);
  return status?.slice(status.lastIndexOf(')') + 2).split(' ');
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
