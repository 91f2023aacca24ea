import { appendFileSync } from 'node:fs';
import { pglite } from '../../../adapters/databases/pglite.ts';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { type FaultInfo, type FaultPoint, systemEnvironment } from '../../../environment.ts';
import { createRuntime } from '../../../index.ts';
import { parentChannel } from '../../support/child-channel.ts';
import { waitFor } from '../../support/wait-for.ts';
import { KILL_LIMITS, type WorkerTask, workerAgent } from './worker-agent.ts';

/** A process that does what its argument says, stops where it says, and waits there to be killed. */

const task = JSON.parse(process.argv[2] ?? '') as WorkerTask;
const parent = parentChannel();
let passages = 0;

/** Says where it stands and goes no further, when this is the place. */
async function stopAt(place: string, about: Record<string, unknown> = {}): Promise<void> {
  if (task.stopAt !== place) return;
  passages += 1;
  if (passages < (task.occurrence ?? 1)) return;
  await parent.say('stopped', { place, ...about });
  await (task.waits ? parent.hear('goOn') : new Promise(() => undefined));
}

let creates = false;

/** What a passage is about, beside its point. */
function subjectOf(point: FaultPoint, { executionId, statement }: FaultInfo): string {
  if (point === 'beforeBegin') creates = false;
  if (executionId !== undefined) return ' of tool';
  if (statement?.startsWith('insert into "turnlock"."agent_sessions"')) creates = true;
  if (creates) return ' of creation';
  return statement?.startsWith('update "turnlock"."agent_tool_executions"') ? ' of record' : '';
}

const agent = workerAgent({
  anthropicUrl: task.anthropicUrl,
  act: (line) => appendFileSync(task.ledger, `${JSON.stringify({ ...line, pid: process.pid })}\n`),
  stopAt,
});
const runtime = await createRuntime({
  database: 'url' in task.database ? postgres(task.database.url) : pglite(task.database.directory),
  agents: [agent],
  migrate: 'check',
  limits: { ...KILL_LIMITS, ...task.limits },
  onWarning: () => undefined,
  environment: {
    ...systemEnvironment,
    faultPoint: (point, info) => stopAt(`${point}${subjectOf(point, info)}`, { ...info, statement: info.statement }),
  },
});
await parent.say('ready');
// The lease of the process before may still last for a moment, and so may its backend: what is skipped is not yet recovered.
if (task.recovers) {
  const isRecovered = async () => (await runtime.recover()).some(({ state }) => state !== undefined);
  await waitFor(isRecovered, { for: 'a session that is owed' });
}
for (const [externalId, message] of Object.entries(task.sessions)) {
  const session = await runtime.createSession({ agent: agent.name, tenantId: 'tenant', userId: 'user', externalId });
  if (message === null) continue;
  const run = await session.send(message, { messageId: message });
  void run.result().then(async (result) => parent.say('rested', { ...result }));
}
await parent.say('done');
