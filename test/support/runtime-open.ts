import { randomUUID } from 'node:crypto';
import type { ScriptedStep } from '../../adapters/models/scripted.ts';
import { scripted } from '../../adapters/models/scripted.ts';
import type { Tool } from '../../adapters/tools/tool.contract.ts';
import type { Environment } from '../../environment.ts';
import {
  type Agent,
  createRuntime,
  type DeltaChannel,
  defineAgent,
  type Log,
  type MemoryOptions,
  type OnAwaiting,
  type Runtime,
  type Session,
  type Telemetry,
} from '../../index.ts';
import type { Limits } from '../../limits.ts';
import type { DatabaseAdapter } from '../../persistence/database.contract.ts';
import { atTestEnd } from './at-test-end.ts';
import type { RuntimeDatabase } from './runtime-database.ts';

/** Bounds under which tests run: pauses that would only cost time are short. */
const QUICK: Partial<Limits> = { modelBackoffMs: 0, graceMs: 0 };

/** Far past every lease, deadline and grace period of a test. */
export const LONG_MS = 24 * 60 * 60 * 1_000;

/** How a test's runtime differs from the ordinary. */
export interface OpenOptions {
  limits?: Partial<Limits>;
  environment?: Environment;
  /** As of `createRuntime`. */
  drive?: boolean;
  /** In place of the database's own. Whoever names one closes the runtime. */
  adapter?: DatabaseAdapter;
  /** As of `createRuntime`. */
  onAwaiting?: OnAwaiting;
  /** Default: nobody is told. */
  onWarning?: ((warning: { code: string; message: string }) => void) | null;
  /** As of `createRuntime`. */
  memory?: MemoryOptions;
  /** As of `createRuntime`. Default `check`. */
  migrate?: 'auto' | 'check';
  /** As of `createRuntime`. */
  telemetry?: Telemetry;
  /** As of `createRuntime`. */
  log?: Log;
  /** As of `createRuntime`. */
  deltas?: DeltaChannel;
}

/** Opens a runtime on a migrated database and closes it at the test's end. */
export async function openRuntime(
  database: RuntimeDatabase,
  agents: readonly Agent[],
  {
    limits,
    environment,
    drive = true,
    adapter,
    onAwaiting,
    onWarning = () => undefined,
    memory,
    migrate = 'check',
    telemetry,
    log,
    deltas,
  }: OpenOptions = {},
): Promise<Runtime> {
  const runtime = await createRuntime({
    database: adapter ?? database.adapter(),
    agents,
    migrate,
    drive,
    limits: { ...QUICK, ...limits },
    ...(onWarning === null ? {} : { onWarning }),
    ...(memory ? { memory } : {}),
    ...(telemetry ? { telemetry } : {}),
    ...(log ? { log } : {}),
    ...(deltas ? { deltas } : {}),
    ...(onAwaiting ? { onAwaiting } : {}),
    ...(environment ? { environment } : {}),
  });
  if (adapter === undefined) atTestEnd(() => runtime.close());
  return runtime;
}

/** An agent whose name no other test has, so that no other test's `recover` touches its sessions. */
export function scriptedAgent(
  script: ScriptedStep[] | ScriptedStep,
  tools: readonly Tool[] = [],
  name = `agent-${randomUUID().slice(0, 8)}`,
): Agent {
  return defineAgent({ name, model: scripted(script), instructions: 'Do it.', tools });
}

/** A new session of the runtime's agent; of tenant `tenant` and user `user` unless told otherwise. */
export async function openSession(
  runtime: Runtime,
  agent: Agent,
  over: { tenantId?: string; userId?: string; externalId?: string; metadata?: { [name: string]: unknown } } = {},
): Promise<Session> {
  return await runtime.createSession({ agent: agent.name, tenantId: 'tenant', userId: 'user', ...over });
}
