import { openSessionHarness } from '../../../testing/harness/session-harness.ts';

// A program with nothing else that keeps its process alive: `node plain-program.ts <'pglite' or a URL> [fails|forgets]`: `prepare` fails, or nobody closes it.
const [where, how] = process.argv.slice(2);
const database = where === 'pglite' || where === undefined ? 'pglite' : { url: where };
const prepare = async (): Promise<void> => {
  if (how === 'fails') throw new Error('no tables');
};
const outcome = await openSessionHarness({ database, prepare }).then(
  async (harness) => {
    if (how !== 'forgets') await harness.close();
    return how === 'forgets' ? 'open' : 'closed';
  },
  (error: Error) => error.message,
);
console.log(JSON.stringify({ type: 'over', outcome }));
