import { systemEnvironment } from '../../../environment.ts';
import { resolveLimits } from '../../../limits.ts';
import { createRuntime, type Runtime } from '../../../runtime/create-runtime.ts';
import { scripted } from '../../models/scripted.ts';
import { chooseDatabase } from '../choose-database.ts';
import { loadModel } from '../models/load-model.ts';
import { readSessionRecord, type SessionRecord } from '../session-record.ts';
import { shareDatabase } from '../shared-database.ts';
import { DEMO_LIMITS, type DemoSetup } from './demo-setup.ts';
import { supportAgents } from './support-agents.ts';
import { supportScript } from './support-script.ts';

/** A runtime with the support agents, and a look into its tables. */
export interface OpenDemo {
  runtime: Runtime;
  tenantId: string;
  /** Everything that a session's rows say, read from the database. */
  read(sessionId: string): Promise<SessionRecord>;
}

/** Opens the database, brings its schema up to date, and makes the runtime. */
export async function openDemo({ database: place, tenantId, port, model: choice }: DemoSetup): Promise<OpenDemo> {
  const model =
    choice.provider === 'scripted' ? scripted(supportScript, { modelId: 'scripted-support' }) : await loadModel(choice);
  const { adapter } = shareDatabase(chooseDatabase(place, { mustExist: false }));
  const runtime = await createRuntime({
    database: adapter,
    agents: supportAgents({ port, model }),
    migrate: 'auto',
    limits: DEMO_LIMITS,
    onWarning: () => undefined,
  });
  const environment = systemEnvironment;
  const limits = resolveLimits(DEMO_LIMITS);
  const database = await adapter.connect({ environment, limits });
  const store = { database, environment, limits };
  return { runtime, tenantId, read: (sessionId) => readSessionRecord(store, { tenantId, sessionId }) };
}
