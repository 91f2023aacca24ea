import { setTimeout as wait } from 'node:timers/promises';
import { isResting } from '../../../machines/session-state.ts';
import type { Settlement } from '../../../runtime/check-settlement.ts';
import { linkToParent } from '../children/parent-link.ts';
import type { SessionRecord } from '../session-record.ts';
import { type Committed, committedSince } from './committed.ts';
import type { DemoSetup } from './demo-setup.ts';
import { type OpenDemo, openDemo } from './open-demo.ts';

/** What a worker of the demonstration can be asked. */
export type DemoWorkerMethods = {
  /** Opens the database and brings its schema up to date. */
  open(question: DemoSetup): Promise<null>;
  /** Creates a session, sends the message, and works until the session rests. */
  serve(question: { agent: string; message: string }): Promise<SessionRecord>;
  /** Continues what a dead worker left behind, until the session rests. */
  recover(question: { sessionId: string; seen: number }): Promise<SessionRecord>;
  /** Settles a call for a person, and works until the session rests. */
  settle(question: {
    sessionId: string;
    seen: number;
    executionId: string;
    settlement: Settlement;
  }): Promise<SessionRecord>;
};

/** What it tells: each transition once it is committed. */
export type DemoWorkerNotices = { committed: { sessionId: string; transition: Committed } };

/** How often the tables are looked at for new transitions, in milliseconds. */
const LOOK_MS = 50;

let demo: OpenDemo;

const parent = linkToParent<DemoWorkerNotices>({
  async open(setup: DemoSetup) {
    demo = await openDemo(setup);
    return null;
  },
  async serve({ agent, message }: Parameters<DemoWorkerMethods['serve']>[0]) {
    const { runtime, tenantId } = demo;
    const session = await runtime.createSession({ agent, tenantId, userId: 'customer' });
    const run = await session.send(message, { messageId: 'complaint' });
    return tell(session.sessionId, 0, run.result());
  },
  async recover({ sessionId, seen }: Parameters<DemoWorkerMethods['recover']>[0]) {
    return tell(sessionId, seen, recoverUntilRest(sessionId));
  },
  async settle({ sessionId, seen, executionId, settlement }: Parameters<DemoWorkerMethods['settle']>[0]) {
    const session = await demo.runtime.session({ tenantId: demo.tenantId, sessionId });
    const run = await session.settle(executionId, settlement);
    return tell(sessionId, seen, run.result());
  },
});

/** `recover` finds a session as soon as the lease of its dead worker is over: on a server that takes up to a second. */
async function recoverUntilRest(sessionId: string): Promise<void> {
  const { runtime, tenantId } = demo;
  const session = await runtime.session({ tenantId, sessionId });
  while (!isResting((await session.status()).state)) {
    await runtime.recover();
    await wait(LOOK_MS);
  }
}

/** Tells what is committed while `work` goes on, and returns what the tables say at its end. */
async function tell(sessionId: string, seen: number, work: Promise<unknown>): Promise<SessionRecord> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  ended.catch(() => undefined);
  for (let last = seen; ; ) {
    const isLast = isOver;
    const record = await demo.read(sessionId);
    for (const transition of committedSince(record, last)) {
      await parent.tell('committed', { sessionId, transition });
      last = transition.sequence;
    }
    if (isLast) {
      await ended;
      return record;
    }
    await Promise.race([ended.catch(() => undefined), wait(LOOK_MS)]);
  }
}
