import { setTimeout as wait } from 'node:timers/promises';
import { type Child, startChild } from '../../test/support/start-child.ts';
import { type PaymentsService, startPayments } from '../../test/support/world/start-payments.ts';
import type { KillPoint, PeerTask, Receiver } from './peer-task.ts';

/** The frameworks, by the process that plays them. */
export const PEERS = ['langgraph', 'dbos', 'turnlock'] as const;
export type Peer = (typeof PEERS)[number];

/** What one play is about. */
export interface PlayOf {
  peer: Peer;
  receiver: Receiver;
  killPoint: KillPoint;
}

/** What came of it. */
export interface Played extends PlayOf {
  /** Refunds that the outside ledger holds for the order. */
  refunds: number;
  /** Requests for one that reached the service. */
  requests: number;
  /** How the framework says that the conversation ended. */
  ended: string;
}

/** How the payments service is told to hold a refund up, so that the process dies there. */
const HOLDS = { onTheWay: 'hangBefore', afterTheAct: 'hangAfter' } as const;

/** A process says something within this time, in milliseconds. */
const MAX_MS = 60_000;

/**
 * A request that was on its way when its sender died arrives at the worst moment: once the next process has reached the service, at the
 * latest after so many milliseconds, which is less than Turnlock's tool may take.
 */
const MAX_LATE_MS = 4_000;

/** The frameworks' databases, and how often something was played. */
export interface PlayGround {
  databases: Readonly<Record<Peer, string>>;
  played: number;
}

/** Makes a framework's tables. */
export async function setUp(peer: Peer, ground: PlayGround): Promise<void> {
  const task = { payments: '', name: '', orderId: '', receiver: 'neither', does: 'set', stopAt: null } as const;
  await endOf(start(peer, { ...task, database: ground.databases[peer] }));
}

/** Begins a refund, kills its process with SIGKILL at the point, lets another process go on, and asks the ledger of the outside world. */
export async function play({ peer, receiver, killPoint }: PlayOf, ground: PlayGround): Promise<Played> {
  ground.played += 1;
  const orderId = String(ground.played);
  const payments = await startPayments({ honoursKeys: receiver === 'keys', tellsRefunds: receiver === 'lookUp' });
  try {
    const common = {
      database: ground.databases[peer],
      payments: payments.url,
      receiver,
      name: `refund-${orderId}`,
      orderId,
    };
    const next = start(peer, { ...common, does: 'resume', stopAt: null });
    await next.next('ready', { timeoutMs: MAX_MS });
    await killAt(killPoint, payments, { ...common, does: 'go', stopAt: killPoint }, peer);
    const goOn = () => next.send({ type: 'goOn' });
    if (killPoint === 'onTheWay') await releaseAtWorst(payments, goOn);
    else goOn();
    const ended = await endOf(next);
    if (killPoint === 'onTheWay') await payments.first('booked', orderId);
    const requests = payments.entriesOf(orderId).filter(({ type }) => type === 'asked').length;
    return { peer, receiver, killPoint, refunds: payments.booked(orderId).length, requests, ended };
  } finally {
    await payments.stop();
  }
}

/** Lets the next process go on, and the request of the dead one arrive. */
async function releaseAtWorst(payments: PaymentsService, goOn: () => void): Promise<void> {
  const contacts = () => payments.ledger().filter(({ type }) => type === 'asked' || type === 'looked').length;
  const before = contacts();
  const endsAt = performance.now() + MAX_LATE_MS;
  goOn();
  while (contacts() === before && performance.now() < endsAt) await wait(5);
  await payments.release();
}

async function killAt(killPoint: KillPoint, payments: PaymentsService, task: PeerTask, peer: Peer): Promise<void> {
  const hold = killPoint === 'onTheWay' || killPoint === 'afterTheAct' ? HOLDS[killPoint] : undefined;
  const rules = { honoursKeys: task.receiver === 'keys', tellsRefunds: task.receiver === 'lookUp' };
  if (hold !== undefined) await payments.behave({ ...rules, fault: hold, times: 1 });
  const child = start(peer, task);
  if (hold === undefined) await child.next('stopped', { timeoutMs: MAX_MS });
  else await payments.first(killPoint === 'onTheWay' ? 'asked' : 'booked', task.orderId);
  await child.kill('SIGKILL');
}

function start(peer: Peer, task: PeerTask): Child {
  return startChild(`bench/peers/${peer}.child.ts`, { args: [JSON.stringify(task)] });
}

async function endOf(child: Child): Promise<string> {
  const { how } = await child.next('ended', { timeoutMs: MAX_MS });
  await child.exited;
  return String(how);
}
