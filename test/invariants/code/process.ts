import pg from 'pg';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { type Environment, type FaultPoint, systemEnvironment } from '../../../environment.ts';
import { type Agent, createRuntime, type Runtime, type Session } from '../../../index.ts';
import { gate } from '../../support/runtime-script.ts';

/** Milliseconds between two signs of life: none comes within a scene. */
export const HEARTBEAT_MS = 50_000;

/** Where a process stops until it is let go: the first passage of the point, once it is armed. */
export class Stop {
  readonly #point: FaultPoint;
  readonly #statement: RegExp;
  readonly #gate = gate();
  readonly #reached = gate();
  #isArmed = false;
  /** Resolves when the process stands there. */
  readonly reached: Promise<void> = this.#reached.opened;

  /** `statement`: only after one that matches. */
  constructor(point: FaultPoint, statement = /(?:)/) {
    this.#point = point;
    this.#statement = statement;
  }

  arm(): void {
    this.#isArmed = true;
  }

  letGo(): void {
    this.#gate.open();
  }

  readonly environment: Environment = {
    ...systemEnvironment,
    faultPoint: async (point, { statement = '' }) => {
      if (point !== this.#point || !this.#isArmed || !this.#statement.test(statement)) return;
      this.#isArmed = false;
      this.#reached.open();
      await this.#gate.opened;
    },
  };
}

/** The database of a scene, with everything that was opened on it. */
export class Stage {
  readonly #url: string;
  readonly #runtimes: Runtime[] = [];
  readonly #client: pg.Client;

  constructor(url: string) {
    this.#url = url;
    this.#client = new pg.Client({ connectionString: url });
  }

  async open(): Promise<void> {
    await this.#client.connect();
  }

  /** Rows of a statement, as the owner of the tables. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of arbitrary statements
  async query(text: string, values: unknown[] = []): Promise<any[]> {
    return (await this.#client.query(text, values)).rows;
  }

  /** A process of its own. */
  async start(agent: Agent, environment: Environment = systemEnvironment): Promise<Runtime> {
    const runtime = await createRuntime({
      database: postgres({ connectionString: this.#url, max: 4 }),
      agents: [agent],
      migrate: 'check',
      limits: { leaseMs: 60_000, heartbeatMs: HEARTBEAT_MS, graceMs: 0, modelBackoffMs: 0 },
      onWarning: () => undefined,
      environment,
    });
    this.#runtimes.push(runtime);
    return runtime;
  }

  async session(runtime: Runtime, agent: Agent): Promise<Session> {
    return runtime.createSession({ agent: agent.name, tenantId: 'tenant', userId: 'user' });
  }

  async moveClock(ms: number): Promise<void> {
    await this.query('UPDATE turnlock.turnlock_clock SET offset_ms = offset_ms + $1', [ms]);
  }

  async close(): Promise<void> {
    for (const runtime of this.#runtimes) await runtime.close();
    await this.#client.end();
  }
}

/** What users said, in order. */
export async function userTexts(session: Session): Promise<string[]> {
  return (await session.history()).filter(({ role }) => role === 'user').map(({ content }) => content ?? '');
}

/** Names of the transitions, in order. */
export async function typesOf(session: Session): Promise<string[]> {
  return (await session.transitions()).map(({ type }) => type);
}
