import { flushCompileCache } from 'node:module';
import { createInterface } from 'node:readline';
import type { ChildMessage } from './start-child.ts';

/** The child's end of the pipe to the test that started it. */
export interface ParentChannel {
  /** Writes a message; resolves once the pipe has taken it, so that a kill right after does not lose it. */
  say(type: string, fields?: Record<string, unknown>): Promise<void>;
  /** Resolves with the next message of this type; earlier ones of other types are kept for their own call. */
  hear(type: string): Promise<ChildMessage>;
}

/** Opens the channel. The process ends when its parent is gone, so a killed test run leaves no child behind. */
export function parentChannel(): ParentChannel {
  flushCompileCache(); // a child that is killed would not keep it for the next one
  const heard: ChildMessage[] = [];
  const awaited: { type: string; resolve: (message: ChildMessage) => void }[] = [];
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const message = JSON.parse(line) as ChildMessage;
    const index = awaited.findIndex((one) => one.type === message.type);
    if (index < 0) heard.push(message);
    else awaited.splice(index, 1)[0]?.resolve(message);
  });
  lines.on('close', () => process.exit());
  return {
    say: (type, fields = {}) =>
      new Promise((resolve) => process.stdout.write(`${JSON.stringify({ type, ...fields })}\n`, () => resolve())),
    hear: (type) =>
      new Promise((resolve) => {
        const index = heard.findIndex((message) => message.type === type);
        const [found] = index < 0 ? [] : heard.splice(index, 1);
        if (found) resolve(found);
        else awaited.push({ type, resolve });
      }),
  };
}
