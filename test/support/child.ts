import { atTestEnd } from './at-test-end.ts';
import { type Child, type ChildOptions, startChild } from './start-child.ts';

/** Starts `node <file>` as `startChild` does. The process is killed and reaped at the end of the test. */
export function spawnChild(file: string, options: ChildOptions = {}): Child {
  const child = startChild(file, options);
  atTestEnd(async () => void (await child.kill()));
  return child;
}
