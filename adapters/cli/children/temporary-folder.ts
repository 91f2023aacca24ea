import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that goes away with `remove`, or with this process. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

const MAX_TRIES = 50;
const RETRY_MS = 50;

/** Makes an empty folder of this process among the system's temporary ones; `purpose` is part of its name. */
export async function temporaryFolder(purpose: string): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), `turnlock-${purpose}-`));
  const removeAtExit = () => removeNow(path);
  process.once('exit', removeAtExit);
  return {
    path,
    async remove() {
      process.off('exit', removeAtExit);
      await rm(path, { recursive: true, force: true, maxRetries: MAX_TRIES, retryDelay: RETRY_MS });
    },
  };
}

/** A child that was killed a moment ago may still be writing: Node's own retries are over too early for that. */
function removeNow(path: string): void {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch {
      Atomics.wait(nobody, 0, 0, RETRY_MS);
    }
  }
}
