import { openSessionHarness, type SessionHarness } from '../../../testing/harness/session-harness.ts';
import { charging, owner } from './charging.ts';

// A program with nothing else that keeps its process alive: `node plain-program.ts <'pglite' or a URL> [fails|forgets|waits|follows]`: `prepare`
// fails, or nobody closes it, also while a process waits for the run of one that died, or follows its session.
const [where, how] = process.argv.slice(2);
const database = where === 'pglite' || where === undefined ? 'pglite' : { url: where };
const prepare = async (): Promise<void> => {
  if (how === 'fails') throw new Error('no tables');
};

async function seeAll(seen: AsyncIterable<unknown>): Promise<void> {
  for await (const _one of seen);
}

/** A process looks whether the run of one that died goes on; nobody waits for what it sees. */
async function lookOn(harness: SessionHarness): Promise<void> {
  const first = await harness.start({ agents: charging([]), faults: "crash at 'after the act'" });
  const session = await first.runtime.createSession(owner);
  session.send('go', { messageId: 'm1' }).catch(() => undefined);
  await harness.quiet();
  const second = await harness.start({ agents: charging([]) });
  const same = await second.runtime.session(session);
  if (how === 'follows') void seeAll(same.follow());
  else void (await same.send('go', { messageId: 'm1' })).result();
  await harness.quiet();
}

const outcome = await openSessionHarness({ database, prepare }).then(
  async (harness) => {
    if (how === undefined) await harness.close();
    if (how === 'waits' || how === 'follows') await lookOn(harness);
    return how === undefined ? 'closed' : 'open';
  },
  (error: Error) => error.message,
);
console.log(JSON.stringify({ type: 'over', outcome }));
