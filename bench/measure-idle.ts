import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Bytes that a worker has resident which finds no work. */
export interface IdleCost {
  /** Once it has started. */
  started: number;
  /** After its rest. */
  idle: number;
}

/** Starts a process with the built package on the migrated database of `url`, and lets it rest for `seconds`. */
export async function measureIdle(url: string, seconds: number): Promise<IdleCost> {
  const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  if (!existsSync(path('../dist/index.js'))) throw new Error('no dist/ to measure: npm run build makes it');
  const child = [path('idle-runtime.child.mjs'), url, String(seconds)];
  const { stdout } = await promisify(execFile)(process.execPath, child, { env: { PATH: process.env.PATH } });
  return JSON.parse(stdout) as IdleCost;
}
