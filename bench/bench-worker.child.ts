import { linkToParent } from '../adapters/cli/children/parent-link.ts';
import { postgres } from '../adapters/databases/postgres.ts';
import { createRuntime, type Runtime } from '../index.ts';
import { hangingAgent } from './hanging-agent.ts';
import { oneToolAgent } from './one-tool-agent.ts';

/** What a worker of the benchmark can be asked. */
export type BenchWorkerMethods = {
  /** Opens the migrated database and begins to work. */
  work(question: { url: string; leaseMs: number }): Promise<null>;
  /** Stops without loss. */
  close(): Promise<null>;
};

/** What it tells: a first attempt has begun, which will never end. */
export type BenchWorkerNotices = { began: Record<string, never> };

/** How many sessions one process drives side by side, and how many connections it has for them. */
const CONCURRENCY = 16;
const CONNECTIONS = 8;

let runtime: Runtime | undefined;

const parent = linkToParent<BenchWorkerNotices>({
  async work({ url, leaseMs }) {
    runtime = await createRuntime({
      database: postgres({ connectionString: url, max: CONNECTIONS }, { listen: url }),
      agents: [oneToolAgent, hangingAgent(() => void parent.tell('began', {}))],
      migrate: 'check',
      limits: { leaseMs },
      onWarning: () => undefined,
    });
    await runtime.start({ concurrency: CONCURRENCY });
    return null;
  },
  async close() {
    await runtime?.close();
    return null;
  },
} satisfies BenchWorkerMethods);
