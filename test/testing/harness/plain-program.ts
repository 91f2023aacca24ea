import { openSessionHarness } from '../../../testing/harness/session-harness.ts';

// A program with nothing else that keeps its process alive: `node plain-program.ts <'pglite' or a URL> [prepare fails]`.
const [where, fails] = process.argv.slice(2);
const database = where === 'pglite' || where === undefined ? 'pglite' : { url: where };
const prepare = async (): Promise<void> => {
  if (fails !== undefined) throw new Error('no tables');
};
const outcome = await openSessionHarness({ database, prepare }).then(
  (harness) => harness.close().then(() => 'closed'),
  (error: Error) => error.message,
);
console.log(JSON.stringify({ type: 'over', outcome }));
