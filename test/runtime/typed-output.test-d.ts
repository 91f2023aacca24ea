import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { scripted } from '../../adapters/models/scripted.ts';
import { type Agent, createRuntime, defineAgent, type Runtime, type Session } from '../../index.ts';
import type { DatabaseAdapter } from '../../persistence/database.contract.ts';

const options = { model: scripted('{}'), instructions: 'Help.' };
const triage = defineAgent({ ...options, name: 'triage', output: z.object({ urgent: z.boolean().default(false) }) });
const count = defineAgent({ ...options, name: 'count', output: z.number() });
const chat = defineAgent({ ...options, name: 'chat' });
declare const database: DatabaseAdapter;

const ids = { tenantId: 'tenant', userId: 'user' };

test('an agent knows its name and what its schema validates to', () => {
  expectTypeOf(triage).toEqualTypeOf<Agent<{ urgent: boolean }, 'triage'>>();
  expectTypeOf(chat).toEqualTypeOf<Agent<null, 'chat'>>();
  expectTypeOf(triage).toExtend<Agent>();
});

test('a result has the output of the agent that the session was made with', async () => {
  const runtime = await createRuntime({ database, agents: [triage, count, chat] });
  const session = await runtime.createSession({ agent: 'triage', ...ids });
  expectTypeOf(session).toEqualTypeOf<Session<{ urgent: boolean }>>();
  const { output } = await (await session.send('x')).result();
  expectTypeOf(output).toEqualTypeOf<{ urgent: boolean } | null>();
  const other = await runtime.createSession({ agent: 'count', ...ids });
  expectTypeOf((await (await other.retry()).result()).output).toEqualTypeOf<number | null>();
  const plain = await runtime.createSession({ agent: 'chat', ...ids });
  expectTypeOf((await (await plain.send('x')).result()).output).toEqualTypeOf<null>();
});

test('a session that is opened is one of any of the agents', async () => {
  const runtime = await createRuntime({ database, agents: [triage, count] });
  const session = await runtime.session({ tenantId: 'tenant', externalId: 'mail-7' });
  expectTypeOf(session).toEqualTypeOf<Session<{ urgent: boolean } | number>>();
});

test('an agent that the runtime was not given is no name for a session', async () => {
  const runtime = await createRuntime({ database, agents: [triage] });
  // @ts-expect-error there is no such agent
  await runtime.createSession({ agent: 'triag', ...ids });
});

test('a runtime of known agents goes where any runtime is wanted', async () => {
  const take = (runtime: Runtime): Runtime => runtime;
  const hold = (session: Session): Session => session;
  const runtime = take(await createRuntime({ database, agents: [triage, count] }));
  const session = hold(await runtime.createSession({ agent: 'any', ...ids }));
  expectTypeOf((await (await session.send('x')).result()).output).toEqualTypeOf<unknown>();
});

test('agents whose names are known at run time only', async () => {
  const agents: readonly Agent[] = [triage, count];
  const runtime = await createRuntime({ database, agents });
  expectTypeOf(await runtime.createSession({ agent: 'any', ...ids })).toEqualTypeOf<Session>();
});
