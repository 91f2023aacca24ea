import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LedgerEntry } from './payments/ledger.ts';
import { startService, startWorker, type Worker } from './processes.ts';
import { SCENES, type Scene } from './scenes.ts';
import type { Order, Standing } from './worker.ts';

/*
 * Plays one call of each effect class. Each time the worker is killed after the outside world has acted and before it could record that, and
 * the next worker goes on. What must come of it is asserted against the ledger of the payments service.
 */

/** Plays a scene with the worker that is alive, and leaves the next one alive. */
async function play(scene: Scene, number: number): Promise<void> {
  const conversation = `conversation-${number}`;
  console.log(`\n${scene.effect}: ${scene.because}`);
  const before = service.ledger().length;
  await killInside(scene, { does: 'serve', conversation, message: scene.message });
  console.log(`  worker ${number} called ${scene.message.split(' ')[0]} and was killed in the middle of it`);
  worker = await startNext();
  let standing = await worker.carryOut({ does: 'goOn', conversation });
  console.log(`  worker ${number + 1} goes on: ${wordsOf(standing)}`);
  const isAsked = standing.awaiting.length > 0;
  if (isAsked) {
    const happened = bookedOf(service.ledger(), standing.awaiting[0]?.idempotencyKey);
    console.log(`  a person looks into the books: ${happened ? 'it was paid' : 'nothing was paid'}`);
    standing = await worker.carryOut({ does: 'settle', conversation, happened });
    console.log(`  worker ${number + 1} goes on: ${wordsOf(standing)}`);
  }
  const entries = service.ledger().slice(before);
  const requests = entries.filter(({ type }) => type === 'asked' || type === 'looked').length;
  const refunds = entries.filter(({ type }) => type === 'booked').length;
  console.log(`  the outside world saw ${count(requests, 'request')} and booked ${count(refunds, 'refund')}`);
  assert.deepEqual(
    { requests, refunds, asksPerson: isAsked, state: standing.state, reply: standing.reply },
    {
      requests: scene.requests,
      refunds: scene.refunds,
      asksPerson: scene.asksPerson,
      state: 'IDLE',
      reply: `The tool said: ${scene.hears}`,
    },
  );
}

/** Kills the worker once the tool has acted, and before anybody can record that. */
async function killInside({ effect }: Scene, order: Order & { does: 'serve' }): Promise<void> {
  if (effect === 'transactional') await worker.stallAtWrite({ ...order, stallsAtWrite: true });
  else {
    const { held } = await service.holdNextAnswer();
    worker.carryOut(order).catch(() => undefined); // it is killed
    await held;
  }
  await worker.kill();
}

function wordsOf({ state, reply, awaiting: [asked] }: Standing): string {
  return asked === undefined ? `${state}, ${reply}` : `${state}, the outcome of ${asked.toolName} is unknown`;
}

function bookedOf(ledger: readonly LedgerEntry[], key: string | undefined): boolean {
  return ledger.some((entry) => entry.type === 'booked' && entry.key === key);
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

const folder = await mkdtemp(join(tmpdir(), 'refunds-'));
const service = await startService(folder);
const startNext = () => startWorker(join(folder, 'database'), service.url);
let worker: Worker = await startNext();
try {
  for (const [index, scene] of SCENES.entries()) await play(scene, index + 1);
} finally {
  await worker.kill();
  service.stop();
  await rm(folder, { recursive: true, force: true });
}
