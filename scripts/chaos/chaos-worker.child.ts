import { appendFileSync } from 'node:fs';
import { linkToParent } from '../../adapters/cli/children/parent-link.ts';
import { postgres } from '../../adapters/databases/postgres.ts';
import { createRuntime, type Runtime, type Session, type Settlement, type WhenBusy } from '../../index.ts';
import { CHAOS_LIMITS, chaosAgent } from './chaos-agent.ts';

/** What the parent asks of a worker. */
export type ChaosWorkerMethods = {
  open(question: { url: string; ledger: string }): Promise<void>;
  send(question: {
    sessionId: string;
    text: string;
    messageId: string;
    whenBusy: WhenBusy;
  }): Promise<{ runId: string }>;
  settle(question: { sessionId: string; executionId: string; settlement: Settlement }): Promise<void>;
  retry(question: { sessionId: string }): Promise<void>;
  cancel(question: { sessionId: string }): Promise<void>;
};

/** What a worker tells. */
export type ChaosWorkerNotices = {
  /** A session was taken over here and rests, or its drive was refused: then `skipped` is its code. */
  session: { skipped?: string };
};

let runtime: Runtime | undefined;

async function sessionOf({ sessionId }: { sessionId: string }): Promise<Session> {
  if (runtime === undefined) throw new Error('the worker is not open');
  return await runtime.session({ tenantId: 'chaos', sessionId });
}

const parent = linkToParent<ChaosWorkerNotices>({
  async open({ url, ledger }) {
    const agent = chaosAgent((act) => appendFileSync(ledger, `${JSON.stringify(act)}\n`));
    runtime = await createRuntime({
      database: postgres({ connectionString: url, max: 5 }, { listen: url }),
      agents: [agent],
      limits: CHAOS_LIMITS,
      onWarning: () => undefined,
    });
    await runtime.start({
      concurrency: 16,
      onSession: ({ skipped }) => void parent.tell('session', skipped === undefined ? {} : { skipped }),
    });
  },
  async send({ text, messageId, whenBusy, ...where }) {
    const { runId } = await (await sessionOf(where)).send(text, { messageId, whenBusy });
    return { runId };
  },
  async settle({ executionId, settlement, ...where }) {
    await (await sessionOf(where)).settle(executionId, settlement);
  },
  async retry(where) {
    await (await sessionOf(where)).retry();
  },
  async cancel(where) {
    await (await sessionOf(where)).cancel();
  },
} satisfies ChaosWorkerMethods);
