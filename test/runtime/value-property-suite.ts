import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ModelRequest } from '../../adapters/models/model.contract.ts';
import { type Agent, isTurnlockError, type Runtime, type Session, type TurnPart } from '../../index.ts';
import { expectWholeAudit } from '../support/audit-of.ts';
import { asMember, isRefused, type OddValue, oddText, oddValue } from '../support/odd-values.ts';
import { describeProperties, runs } from '../support/property.ts';
import type { RuntimeSuite } from '../support/runtime-database.ts';
import { openRuntime, scriptedAgent } from '../support/runtime-open.ts';
import { call, looseTool } from '../support/runtime-script.ts';

/** Room for values within values; what the bounds themselves do is tested elsewhere. */
const LIMITS = { maxMetadataBytes: 1024 * 1024, maxModelAttempts: 1 };

const storable = (text: string) => text.toWellFormed().replaceAll('\0', '\uFFFD');
const notesOf = (text: string, path: string) => (storable(text) === text ? [] : [path]);
const sorted = (paths: readonly string[] | null) => (paths ?? []).toSorted();

/** Any value and any text, through all doors of one session, whoever reads it. */
export const describeValueProperties: RuntimeSuite = (database) => {
  /** An agent whose model asks for one call with the value, and then replies with the text and the value. */
  function agentOf(value: OddValue, text: string, seen: { params: unknown[]; requests: ModelRequest[] }): Agent {
    const act = looseTool('act', (params) => {
      seen.params.push(params);
      return value.make();
    });
    return scriptedAgent(
      (request) => {
        seen.requests.push(structuredClone(request));
        const since = request.turns.slice(request.turns.findLastIndex(({ role }) => role === 'user'));
        const answers = since.filter(({ role }) => role === 'assistant').length;
        if (since[0]?.text !== 'last' && answers === 0) {
          return { text, toolCalls: [call('act', asMember(value).make(), { providerCallId: text })] };
        }
        const part = (isRefused(value) ? null : value.make()) as never;
        return { text, parts: [{ type: 'custom', part } as TurnPart], finishReason: text };
      },
      [act],
    );
  }

  /** Opens a session with the value as metadata; without it, once it was refused in the right place. */
  async function openWith(runtime: Runtime, agent: Agent, value: OddValue): Promise<Session> {
    const asked = { agent: agent.name, tenantId: 'tenant', userId: 'user' };
    const member = asMember(value);
    try {
      const session = await runtime.createSession({ ...asked, metadata: member.make() as never });
      expect(member.fate.is, value.name).toBe('stored');
      return session;
    } catch (error) {
      expectRefusal(error, member, 'metadata');
      return runtime.createSession(asked);
    }
  }

  function expectRefusal(error: unknown, { name, fate }: OddValue, door: string): void {
    if (!isTurnlockError(error) || fate.is === 'stored') throw error;
    const places = fate.at.map(({ code, path }) => `${code} ${path === null ? '' : `/${door}${path}`}`);
    const found = `${error.code} ${error.code === 'VALUE_TOO_LARGE' ? '' : error.details.path}`;
    expect(places, name).toContain(found);
  }

  async function throughEveryDoor(value: OddValue, text: string): Promise<void> {
    const seen = { params: [] as unknown[], requests: [] as ModelRequest[] };
    const agent = agentOf(value, text, seen);
    const runtime = await openRuntime(database(), [agent], { limits: LIMITS });
    const session = await openWith(runtime, agent, value);
    const member = asMember(value);
    const before = (await session.status()).version;
    const metadata = member.fate.is === 'stored' ? (member.make() as { [name: string]: unknown }) : {};
    if (member.fate.is === 'refused') {
      const refusal = await session.send(text, { metadata: member.make() as never }).catch((error: unknown) => error);
      expectRefusal(refusal, member, 'metadata');
      expect((await session.status()).version).toBe(before);
    }
    const run = await session.send(text, { metadata, messageId: 'm1' });
    const result = await run.result();
    expect(result).toMatchObject({ state: 'IDLE', reply: storable(text), error: null });

    const again = await openRuntime(database(), [agent], { limits: LIMITS });
    const replayed = await again.session(session);
    expect(await (await replayed.send(text, { metadata, messageId: 'm1' })).result()).toEqual(result);
    const [user, asked, tool, reply] = await replayed.history();
    expect([user!.content, asked!.content, reply!.content]).toEqual(Array(3).fill(storable(text)));
    const stored = member.fate.is === 'stored' ? member.fate.stored : {};
    expect((await replayed.status()).metadata).toEqual(stored);
    expect(user!.metadata).toEqual(stored);
    const [execution] = await database().query(
      'SELECT status, attempt, input_parameters, output_payload, normalised FROM turnlock.agent_tool_executions WHERE session_id = $1',
      [session.sessionId],
    );
    if (value.fate.is === 'stored' && member.fate.is === 'stored') {
      const { paths } = value.fate;
      const below = (door: string) => paths.map((path) => `${door}${path}`);
      expect(seen.params).toEqual([stored]);
      expect(execution).toMatchObject({ status: 'SUCCESS', attempt: 1, input_parameters: stored });
      expect(execution.output_payload).toEqual(value.name === 'undefined' ? null : value.fate.stored);
      expect(reply!.parts).toEqual([{ type: 'custom', part: value.fate.stored }]);
      expect(sorted(user!.normalised)).toEqual(sorted([...notesOf(text, '/message'), ...below('/metadata/value')]));
      expect(sorted(reply!.normalised)).toEqual(sorted([...notesOf(text, '/reply'), ...below('/parts/0/part')]));
      const noted = [...notesOf(text, '/providerCallId'), ...below('/params/value'), ...below('/output')];
      expect(sorted(execution.normalised)).toEqual(sorted(noted));
    } else if (member.fate.is === 'refused') {
      expect(seen.params).toEqual([]);
      expect(execution).toMatchObject({ status: 'FAILED', attempt: 0 });
      expect(tool).toMatchObject({ parts: [{ outcome: 'failed' }] });
    }
    const told = seen.requests.at(-1)!.turns;
    await (await replayed.send('last')).result();
    expect(seen.requests.at(-1)!.turns.slice(0, told.length)).toEqual(told);
    await expectWholeAudit(database(), session.sessionId);
    await runtime.close();
    await again.close();
  }

  describeProperties('C34 C35 C36 any value, through every door of a session of its own', () => {
    test('is what was given for all who read it, with the places that were replaced, or is refused where it is wrong', async () => {
      await fc.assert(fc.asyncProperty(oddValue, oddText, throughEveryDoor), { ...runs(6), endOnFailure: true });
    });
  });
};
