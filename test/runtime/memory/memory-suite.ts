import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Recalled } from '../../../index.ts';
import type { RuntimeSuite } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';

const agent = scriptedAgent('done');

/** What was found, best first. */
const contents = ({ memories }: Recalled) => memories.map(({ content }) => content);

/** Memories of a user as the runtime's caller has them, on a database without vectors. */
export const describeMemory: RuntimeSuite = (database) => {
  const owner = () => ({ tenantId: 'tenant', userId: `user-${randomUUID()}` });
  const open = async (limits = {}) => (await openRuntime(database(), [agent], { limits })).memory(owner());

  test('what is remembered is found by its words, the rarest first', async () => {
    const memory = await open();
    for (const content of ['The user likes tea', 'The user likes the sea', 'The user owns a boat, the Ana']) {
      await memory.remember({ kind: 'fact', content });
    }
    const found = await memory.recall({ query: 'does the user own a boat?' });
    expect(found.searchedBy).toBe('text');
    expect(contents(found)).toEqual(['The user owns a boat, the Ana']);
    expect(found.memories[0]).toMatchObject({
      kind: 'fact',
      ranks: { text: 1, vector: null },
      similarity: null,
      sessionId: null,
      turnIndex: null,
      expiresAt: null,
      metadata: {},
      isSuperseded: false,
      score: 1 / 61,
    });
    // Where a search has nothing but words that most memories have, those are found by them all the same.
    expect(contents(await memory.recall({ query: 'user' }))).toHaveLength(3);
    expect(contents(await memory.recall({ query: 'submarine' }))).toEqual([]);
    expect(contents(await memory.recall({ query: `'' \\ | & ! :* <-> (` }))).toEqual([]);
  });

  test('an empty query answers with the newest', async () => {
    const memory = await open();
    for (const content of ['first', 'second', 'third']) {
      await memory.remember({ kind: 'episode', content });
      await database().moveClock(1_000);
    }
    const found = await memory.recall({ query: '  ', limit: 2 });
    expect([found.searchedBy, contents(found)]).toEqual(['recency', ['third', 'second']]);
    const page = await memory.list({ limit: 2 });
    const rest = await memory.list({ limit: 2, after: page[1]!.memoryId });
    expect([...page, ...rest].map(({ content }) => content)).toEqual(['third', 'second', 'first']);
  });

  test('words are found in the language of the memory', async () => {
    const memory = await open();
    await memory.remember({ kind: 'fact', content: 'She was running through the forests', language: 'english' });
    await memory.remember({ kind: 'fact', content: 'Er mag lange Spaziergänge', language: 'german' });
    expect(contents(await memory.recall({ query: 'run in a forest' }))).toEqual([
      'She was running through the forests',
    ]);
    expect(contents(await memory.recall({ query: 'ein langer Spaziergang' }))).toEqual(['Er mag lange Spaziergänge']);
    await expect(memory.remember({ kind: 'fact', content: 'x', language: 'klingon' })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
    });
  });

  test('kinds, session and time narrow a search', async () => {
    const memory = await open();
    await memory.remember({ kind: 'fact', content: 'tea is warm' });
    await database().moveClock(10_000);
    const { memoryId } = await memory.remember({ kind: 'preference', content: 'tea with milk' });
    const { createdAt } = (await memory.list())[0]!;
    const found = async (narrowed: object) => contents(await memory.recall({ query: 'tea', ...narrowed }));
    expect(await found({ kinds: ['preference'] })).toEqual(['tea with milk']);
    expect(await found({ olderThan: createdAt })).toEqual(['tea is warm']);
    expect(await found({ newerThan: new Date(createdAt.getTime() - 1) })).toEqual(['tea with milk']);
    expect(await found({ sessionId: memoryId })).toEqual([]);
    expect(await found({ limit: 1 })).toHaveLength(1);
  });

  test('what is superseded or has expired is found no more', async () => {
    const memory = await open();
    const { memoryId: old } = await memory.remember({ kind: 'preference', content: 'drinks coffee' });
    await memory.remember({ kind: 'preference', content: 'drinks tea', supersedes: [old] });
    expect(contents(await memory.recall({ query: 'drinks' }))).toEqual(['drinks tea']);
    expect(contents(await memory.recall({ query: 'drinks', includeSuperseded: true }))).toHaveLength(2);
    const again = memory.remember({ kind: 'preference', content: 'drinks water', supersedes: [old] });
    await expect(again).rejects.toMatchObject({ code: 'MEMORY_CONFLICT' });
    const nobody = memory.remember({ kind: 'fact', content: 'x', supersedes: [randomUUID()] });
    await expect(nobody).rejects.toMatchObject({ code: 'MEMORY_NOT_FOUND' });
    const [{ now }] = await database().query('SELECT turnlock.turnlock_now() AS now');
    await memory.remember({
      kind: 'fact',
      content: 'drinks nothing today',
      expiresAt: new Date(now.getTime() + 60_000),
    });
    expect(contents(await memory.recall({ query: 'today' }))).toEqual(['drinks nothing today']);
    await database().moveClock(60_001);
    expect(contents(await memory.recall({ query: 'today' }))).toEqual([]);
    expect(await memory.list()).toHaveLength(1);
  });

  test('an id of the caller’s stands for one memory of the user', async () => {
    const memory = await open();
    const given = { kind: 'fact', content: 'once', memoryId: randomUUID(), metadata: { a: 1 } } as const;
    expect(await memory.remember(given)).toEqual({ memoryId: given.memoryId, repeated: false });
    expect(await memory.remember(given)).toEqual({ memoryId: given.memoryId, repeated: true });
    await expect(memory.remember({ ...given, content: 'twice' })).rejects.toMatchObject({ code: 'MEMORY_CONFLICT' });
    const both = await Promise.all([1, 2, 3].map(() => memory.remember({ ...given, memoryId: randomUUID() })));
    expect(new Set(both.map(({ repeated }) => repeated))).toEqual(new Set([false]));
    const id = randomUUID();
    const raced = await Promise.all([1, 2, 3].map(() => memory.remember({ ...given, memoryId: id })));
    expect(raced.filter(({ repeated }) => !repeated)).toHaveLength(1);
  });

  test('forgetting takes these, or all that fit, of this user alone', async () => {
    const runtime = await openRuntime(database(), [agent]);
    const [mine, others] = [runtime.memory(owner()), runtime.memory(owner())];
    const { memoryId } = await mine.remember({ kind: 'fact', content: 'one' });
    await mine.remember({ kind: 'fact', content: 'two' });
    await mine.remember({ kind: 'episode', content: 'three' });
    await others.remember({ kind: 'fact', content: 'four' });
    expect(await others.forget({ memoryIds: [memoryId] })).toEqual({ forgotten: 0 });
    expect(await mine.forget({ memoryIds: [memoryId, randomUUID()] })).toEqual({ forgotten: 1 });
    expect(await mine.forget({ all: true, kinds: ['fact'] })).toEqual({ forgotten: 1 });
    expect((await mine.list()).map(({ content }) => content)).toEqual(['three']);
    expect(await mine.forget({ all: true })).toEqual({ forgotten: 1 });
    expect(await others.list()).toHaveLength(1);
  });

  test('with a session it is a commit of that session, whose audit names it', async () => {
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const [tenantId, userId] = ['tenant', 'user'];
    const memory = runtime.memory({ tenantId, userId });
    const given = {
      kind: 'fact',
      content: 'said there',
      sessionId: session.sessionId,
      memoryId: randomUUID(),
    } as const;
    expect(await memory.remember(given)).toEqual({ memoryId: given.memoryId, repeated: false });
    expect(await memory.remember(given)).toEqual({ memoryId: given.memoryId, repeated: true });
    await expect(memory.remember({ ...given, content: 'not there' })).rejects.toMatchObject({
      code: 'MEMORY_CONFLICT',
    });
    const { memories } = await memory.recall({ query: 'there', sessionId: session.sessionId });
    expect(memories).toMatchObject([{ content: 'said there', sessionId: session.sessionId }]);
    const transitions = await session.transitions();
    expect(transitions.map(({ type }) => type)).toEqual(['memory.stored']);
    expect(await session.verify()).toMatchObject({ findings: [] });
    const stranger = runtime.memory({ tenantId, userId: 'stranger' });
    for (const sessionId of [session.sessionId, randomUUID()]) {
      const refused = stranger.remember({ kind: 'fact', content: 'x', sessionId });
      await expect(refused).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    }
    await session.complete({ by: 'ann' });
    await expect(
      memory.remember({ kind: 'fact', content: 'late', sessionId: session.sessionId }),
    ).rejects.toMatchObject({
      code: 'EVENT_ILLEGAL',
    });
  });

  test('pages follow each other, and one after a memory that was forgotten is refused and not empty', async () => {
    const memory = await open();
    for (const content of ['first', 'second', 'third']) await memory.remember({ kind: 'fact', content });
    const [newest] = await memory.list({ limit: 1 });
    const rest = await memory.list({ after: newest!.memoryId });
    expect(rest.map(({ content }) => content)).toEqual(['second', 'first']);
    expect(await memory.list({ after: rest[1]!.memoryId })).toEqual([]);
    await memory.forget({ memoryIds: [newest!.memoryId] });
    await expect(memory.list({ after: newest!.memoryId })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  test('an id whose memory was forgotten is free again, also in the session that stored it', async () => {
    const runtime = await openRuntime(database(), [agent]);
    const session = await openSession(runtime, agent);
    const memory = runtime.memory({ tenantId: 'tenant', userId: 'user' });
    const given = { kind: 'fact', content: 'first', sessionId: session.sessionId, memoryId: randomUUID() } as const;
    const again = { ...given, content: 'second' };
    const anew = async (one: typeof given | typeof again) => {
      expect(await memory.remember(one)).toEqual({ memoryId: given.memoryId, repeated: false });
      expect(await memory.remember(one)).toEqual({ memoryId: given.memoryId, repeated: true });
      expect(await memory.list()).toMatchObject([{ content: one.content, sessionId: session.sessionId }]);
      await memory.forget({ memoryIds: [given.memoryId] });
    };
    await memory.forget({ all: true });
    for (const one of [given, given, again, given]) await anew(one);
    expect((await session.transitions()).map(({ type }) => type)).toEqual(Array(4).fill('memory.stored'));
    expect(await session.verify()).toMatchObject({ findings: [] });
    // What was remembered without a session is a repeat with one, and stays what it was.
    await memory.remember({ kind: 'fact', content: 'first', memoryId: given.memoryId });
    expect(await memory.remember(given)).toEqual({ memoryId: given.memoryId, repeated: true });
    await expect(memory.remember(again)).rejects.toMatchObject({ code: 'MEMORY_CONFLICT' });
  });

  test.each([
    ['no kind', { content: 'x' }],
    ['another kind', { kind: 'rumour', content: 'x' }],
    ['a content of blanks', { kind: 'fact', content: ' ' }],
    ['a date that is none', { kind: 'fact', content: 'x', expiresAt: new Date(Number.NaN) }],
    ['an option that is none', { kind: 'fact', content: 'x', ttl: 1 }],
    ['a language that is no name', { kind: 'fact', content: 'x', language: '' }],
  ])('%s is refused', async (_, given) => {
    const memory = await open();
    await expect(memory.remember(given as never)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  test.each([
    ['more than the bound', { kind: 'fact', content: 'x'.repeat(11) }, 'VALUE_TOO_LARGE'],
    ['an id that is no UUID', { kind: 'fact', content: 'x', memoryId: '1' }, 'VALUE_INVALID'],
    ['a content that is no text', { kind: 'fact', content: 1 }, 'VALUE_INVALID'],
  ])('%s is refused', async (_, given, code) => {
    const memory = await open({ maxMemoryBytes: 10 });
    await expect(memory.remember(given as never)).rejects.toMatchObject({ code });
  });

  test('a search that cannot be made is refused', async () => {
    const memory = await open();
    for (const given of [{ query: 'x', by: 'vector' }, { query: 'x', limit: 0 }, { query: 'x', kinds: [] }, {}]) {
      await expect(memory.recall(given as never)).rejects.toMatchObject({
        code: expect.stringMatching(/OPTIONS_INVALID|VALUE_INVALID/),
      });
    }
    for (const given of [{}, { all: false }, { memoryIds: [], all: true }, { memoryIds: ['1'] }]) {
      await expect(memory.forget(given as never)).rejects.toMatchObject({
        code: expect.stringMatching(/OPTIONS_INVALID|VALUE_INVALID/),
      });
    }
  });

  test('a lone surrogate and U+0000 are replaced, and the longest text is stored', async () => {
    const memory = await open();
    await memory.remember({ kind: 'fact', content: 'a\u0000b \ud83d rest' });
    expect((await memory.list())[0]!.content).toBe('a\ufffdb \ufffd rest');
    await memory.remember({ kind: 'episode', content: 'é '.repeat(21_845) });
    expect(contents(await memory.recall({ query: 'é' }))).toHaveLength(1);
    // A whole message may be a query.
    const message = Array.from({ length: 60_000 }, (_, place) => `é${place}`).join(' ');
    expect(contents(await memory.recall({ query: `é ${message}` }))).toHaveLength(1);
  });
};
