import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that goes away with `remove`, or with this process. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

const GENTLY = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const;

/** Makes an empty folder of this process among the system's temporary ones. */
export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'turnlock-'));
  const removeAtExit = () => rmSync(path, GENTLY);
  process.once('exit', removeAtExit);
  return {
    path,
    async remove() {
      process.off('exit', removeAtExit);
      await rm(path, GENTLY);
    },
  };
}
