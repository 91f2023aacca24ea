import { parentChannel } from '../../test/support/child-channel.ts';
import { CENTS, type PeerTask } from './peer-task.ts';

/*
 * What the processes of all three frameworks have in common: the refund tool and the points at which they stop. Only the framework between
 * them differs.
 */

/** What this process was told. */
export const task = JSON.parse(process.argv[2] ?? '') as PeerTask;
const parent = parentChannel();

/** Waits until it is this process's turn: one that goes on with what another began has loaded its modules before that one dies. */
export async function mayGoOn(): Promise<void> {
  if (task.does !== 'resume') return;
  await parent.say('ready');
  await parent.hear('goOn');
}

/** Stops here for ever where the process is to be killed at this point. */
export async function stopAt(point: PeerTask['stopAt']): Promise<void> {
  if (task.stopAt !== point) return;
  await parent.say('stopped');
  await new Promise(() => undefined);
}

/** Says how the conversation ended, and ends the process. */
export async function ended(how: string): Promise<never> {
  await parent.say('ended', { how });
  process.exit();
}

/** The act: one request. `key`: what the framework offers as one, for a receiver that knows keys. */
export async function payBack(key: string): Promise<string> {
  await stopAt('beforeTheAct');
  const headers: Record<string, string> = task.receiver === 'keys' ? { 'idempotency-key': key } : {};
  const body = JSON.stringify({ orderId: task.orderId, cents: CENTS });
  const answer = await fetch(`${task.payments}/refunds`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`the payments service answered ${answer.status}`);
  return ((await answer.json()) as { refundId: string }).refundId;
}

/** Asks a receiver that can be asked: the refund of the order, `null` where there is none. */
export async function lookUp(): Promise<string | null> {
  const answer = await fetch(`${task.payments}/refunds?orderId=${task.orderId}`);
  const { refunds } = (await answer.json()) as { refunds: { refundId: string }[] };
  return refunds[0]?.refundId ?? null;
}

/** The act as it is written for a framework that runs it again: where the receiver can be asked, it is asked first. */
export async function payBackOrFind(key: string): Promise<string> {
  const known = task.receiver === 'lookUp' ? await lookUp() : null;
  return known ?? (await payBack(key));
}
