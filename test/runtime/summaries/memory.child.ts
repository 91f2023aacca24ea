import { postgres } from '../../../adapters/databases/postgres.ts';
import { type FaultInfo, type FaultPoint, systemEnvironment } from '../../../environment.ts';
import { createRuntime } from '../../../index.ts';
import { parentChannel } from '../../support/child-channel.ts';
import { KILLED_LIMITS, killedAgent } from './killed-agent.ts';

/** A process that sends the messages that its argument names to a session, stops where it says, and waits there to be killed. */

const task = JSON.parse(process.argv[2] ?? '') as { url: string; messages: string[]; stopAt: string };
const parent = parentChannel();

async function stopAt(place: string): Promise<void> {
  if (task.stopAt !== place) return;
  await parent.say('stopped', { place });
  await new Promise(() => undefined);
}

let stores: string | null = null;

/** Where a commit stands that stores a memory: at its statement, and from then on. */
async function passed(point: FaultPoint, { statement, detail }: FaultInfo): Promise<void> {
  if (detail === 'summary') return stopAt(`${point} of summary`);
  if (point === 'beforeBegin') stores = null;
  if (statement?.includes('turnlock.store_memory(')) stores = ' of memory';
  if (stores !== null) await stopAt(`${point}${stores}`);
}

const agent = killedAgent();
const runtime = await createRuntime({
  database: postgres(task.url),
  agents: [agent],
  migrate: 'check',
  limits: KILLED_LIMITS,
  onWarning: () => undefined,
  environment: { ...systemEnvironment, faultPoint: passed },
});
const whose = { agent: agent.name, tenantId: 'tenant', userId: 'user', externalId: 'one' };
const session = await runtime.createSession(whose);
for (const message of task.messages) await (await session.send(message, { messageId: message })).result();
await parent.say('done');
