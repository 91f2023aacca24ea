import { spawn } from 'node:child_process';

/**
 * `cat` ends when the pipe's other end closes, which the kernel does however our process died. The file's first line is the
 * server's process id; initdb may still be writing, so the folder is removed until it is gone.
 */
const SCRIPT = `
cat >/dev/null
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
for turn in $(seq 100); do
  if [ -z "$pid" ] || ! kill -0 "$pid" 2>/dev/null; then rm -rf "$1"; [ -e "$1" ] || break; fi
  sleep 0.1
done`;

/**
 * Watches this process from another one that ends the server in the folder and removes it when this process is gone, by
 * whatever signal (a `kill -9` too). Answers a function that lets the watcher do its work now.
 */
export function startServerReaper(folder: string): () => void {
  const reaper = spawn('sh', ['-c', SCRIPT, 'sh', folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  reaper.unref();
  return () => void reaper.stdin.end();
}
