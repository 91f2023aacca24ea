import { appendFileSync } from 'node:fs';
import { postgres } from '../../adapters/databases/postgres.ts';
import { scripted } from '../../adapters/models/scripted.ts';
import { createRuntime, defineAgent, type Limits, TurnlockError } from '../../index.ts';
import { parentChannel } from '../support/child-channel.ts';
import { call, eachRun, looseTool } from '../support/runtime-script.ts';

/** A process whose clock may be wrong: a worker, which sends a message where it is told to, and in which acts never end where it is told so. */

/** What it is told. */
export interface OffClockTask {
  url: string;
  /** File to which every act appends the name of its process. */
  ledger: string;
  name: string;
  /** External id of the session that it creates and sends to; absent: it only works. */
  sends?: string;
  hangs: boolean;
  limits: Partial<Limits>;
}

const task = JSON.parse(process.argv[2] ?? '') as OffClockTask;
const parent = parentChannel();
const script = eachRun({ toolCalls: [call('note')] }, 'done');
let asked = 0;
const note = looseTool(
  'note',
  async () => {
    appendFileSync(task.ledger, `${task.name}\n`);
    await parent.say('acted');
    return task.hangs ? await new Promise(() => undefined) : 'noted';
  },
  { timeoutMs: 60_000 },
);
const model = scripted((request) => {
  asked += 1;
  if (asked === 1) throw new TurnlockError('MODEL_FAILED', { message: 'model is away', retryable: true });
  return script(request);
});
const agent = defineAgent({ name: 'off', model, instructions: 'Do it.', tools: [note] });
const runtime = await createRuntime({
  database: postgres(task.url),
  agents: [agent],
  migrate: 'check',
  limits: task.limits,
  onWarning: () => undefined,
});
await runtime.start();
await parent.say('ready', { now: Date.now(), zoneMinutes: new Date().getTimezoneOffset() });
if (task.sends !== undefined) {
  const ids = { agent: agent.name, tenantId: 'tenant', userId: 'user', externalId: task.sends };
  await (await runtime.createSession(ids)).send('go');
}
