import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { hashedNgrams } from '../../../adapters/embedders/hashed-ngrams.ts';
import { scripted } from '../../../adapters/models/scripted.ts';
import { createRuntime, defineAgent, type Embedder, type Recalled, TurnlockError } from '../../../index.ts';
import type { RuntimeSuite } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, eachRun, gate, looseTool } from '../../support/runtime-script.ts';
import { waitFor } from '../../support/wait-for.ts';

const agent = scriptedAgent('done');
const ngrams = hashedNgrams();

/** An embedder that does what `how` says before it answers. */
function embedderThat(how: (signal: AbortSignal, purpose: string) => Promise<void> | void): Embedder {
  return {
    ...ngrams,
    embed: async (texts, context) => {
      await how(context.signal, context.purpose);
      return ngrams.embed(texts, context);
    },
  };
}

/** Warnings about memory, without those about the server of the tests. */
function heard() {
  const warnings: { code: string; message: string }[] = [];
  const onWarning = (warning: { code: string; message: string }) => {
    if (/^(EMBEDDING|MEMORY)_/.test(warning.code)) warnings.push(warning);
  };
  return { onWarning, warnings, codes: () => warnings.map(({ code }) => code) };
}

const contents = ({ memories }: Recalled) => memories.map(({ content }) => content);

/** Memories on a database that has the extension `vector`. The first test of the file makes the table of vectors. */
export const describeVectors: RuntimeSuite = (database) => {
  const owner = () => ({ tenantId: 'tenant', userId: `user-${randomUUID()}` });
  const owed = async () => {
    const rows = await database().query(
      `SELECT count(*)::int AS count FROM turnlock.agent_memory_tasks WHERE kind = 'embed'`,
    );
    return rows[0].count as number;
  };
  const allMade = () => waitFor(async () => (await owed()) === 0, { for: 'every vector to be made' });
  const open = (embedder: Embedder | undefined = ngrams, more: Parameters<typeof openRuntime>[2] = {}) =>
    openRuntime(database(), [agent], { ...(embedder === undefined ? {} : { memory: { embedder } }), ...more });

  beforeAll(async () => {
    const before = await createRuntime({ database: database().adapter(), agents: [agent], onWarning: () => undefined });
    await before.memory({ tenantId: 'tenant', userId: 'early' }).remember({ kind: 'fact', content: 'there before' });
    await before.close();
    const first = await createRuntime({
      database: database().adapter(),
      agents: [agent],
      migrate: 'auto',
      memory: { embedder: ngrams },
      onWarning: () => undefined,
    });
    await first.close();
  });

  // What one test leaves owed is no other's.
  afterEach(() => database().query('DELETE FROM turnlock.agent_memory_tasks'));

  test('what was remembered before vectors were kept is owed one, and a worker makes it', async () => {
    expect(await owed()).toBe(1);
    const runtime = await open(ngrams, { limits: { sweepMs: 20 } });
    await runtime.start();
    await allMade();
    const memory = runtime.memory({ tenantId: 'tenant', userId: 'early' });
    const found = await memory.recall({ query: 'thereby', by: 'vector' });
    expect([found.searchedBy, contents(found)]).toEqual(['vector', ['there before']]);
  });

  test('what is remembered is found by its words at once, and by its vector soon, fused by rank', async () => {
    const memory = (await open()).memory(owner());
    for (const content of ['He plays the piano', 'She plays football', 'They met a pianist']) {
      await memory.remember({ kind: 'fact', content });
    }
    await allMade();
    const found = await memory.recall({ query: 'a pianist plays' });
    expect(found.searchedBy).toBe('hybrid');
    expect(found.memories[0]!.content).toBe('They met a pianist');
    for (const { score, ranks, similarity } of found.memories) {
      const sum = [ranks.text, ranks.vector].reduce<number>(
        (all, rank) => all + (rank === null ? 0 : 1 / (60 + rank)),
        0,
      );
      expect(score).toBeCloseTo(sum, 9);
      expect(similarity).toBeGreaterThan(0);
    }
    expect(contents(await memory.recall({ query: 'footballer', by: 'text' }))).toEqual([]);
    expect(contents(await memory.recall({ query: 'footballer', limit: 1 }))).toEqual(['She plays football']);
  });

  test('memory and vector are stored together where that is asked for, or neither is', async () => {
    let fails = false;
    const embedder = embedderThat(() => {
      if (fails) throw new Error('no');
    });
    const memory = (await open(embedder)).memory(owner());
    await memory.remember({ kind: 'fact', content: 'at once' }, { embed: 'before' });
    expect(await owed()).toBe(0);
    expect((await memory.recall({ query: 'once', by: 'vector' })).memories).toHaveLength(1);
    fails = true;
    const refused = memory.remember({ kind: 'fact', content: 'never' }, { embed: 'before' });
    await expect(refused).rejects.toMatchObject({ code: 'EMBEDDING_FAILED' });
    await expect(memory.recall({ query: 'never', by: 'vector' })).rejects.toMatchObject({ code: 'EMBEDDING_FAILED' });
    expect(contents(await memory.recall({ query: 'never' }))).toEqual([]);
  });

  test('where the embedder fails or is late, a search goes by text, and one warning says so', async () => {
    const { warnings, onWarning } = heard();
    let mode: 'fails' | 'hangs' | 'works' = 'works';
    const embedder = embedderThat(async (signal) => {
      if (mode === 'fails') throw new Error('secret words');
      if (mode === 'hangs') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    const runtime = await open(embedder, {
      limits: { embedTimeoutMs: 50 },
      onWarning,
    });
    const memory = runtime.memory(owner());
    await memory.remember({ kind: 'fact', content: 'by its words' });
    await allMade();
    for (const how of ['fails', 'hangs', 'fails'] as const) {
      mode = how;
      const found = await memory.recall({ query: 'words' });
      expect([found.searchedBy, contents(found)]).toEqual(['text', ['by its words']]);
    }
    expect(warnings).toEqual([
      { code: 'EMBEDDING_FAILED', message: expect.stringMatching(/^Searches go by text alone/) },
    ]);
    expect(JSON.stringify(warnings)).not.toContain('secret');
    mode = 'works';
    expect((await memory.recall({ query: 'words' })).searchedBy).toBe('hybrid');
  });

  test('C67 another model, or another size, is a clear error at start; text search goes on where that is asked for', async () => {
    const others: Embedder[] = [{ ...ngrams, modelId: 'another' }, hashedNgrams({ dimensions: 128 })];
    for (const embedder of others) {
      await expect(open(embedder)).rejects.toMatchObject({
        code: 'EMBEDDING_MISMATCH',
        details: { found: { modelId: ngrams.modelId, dimensions: 256 } },
      });
      const { codes, onWarning } = heard();
      const runtime = await openRuntime(database(), [agent], {
        memory: { embedder, whenMismatched: 'textOnly' },
        onWarning,
      });
      const memory = runtime.memory(owner());
      await memory.remember({ kind: 'fact', content: 'still found' });
      const found = await memory.recall({ query: 'found' });
      expect([codes(), found.searchedBy, contents(found)]).toEqual([['EMBEDDING_MISMATCH'], 'text', ['still found']]);
      await expect(memory.recall({ query: 'found', by: 'vector' })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    }
    // What was remembered meanwhile waits for a runtime whose model fits.
    expect(await owed()).toBe(2);
    const fitting = await open(ngrams, { limits: { sweepMs: 20 } });
    await fitting.start();
    await allMade();
  });

  test('vectors that are replaced while a runtime runs are neither compared nor written', async () => {
    const { warnings, onWarning, codes } = heard();
    const runtime = await open(ngrams, { onWarning });
    const memory = runtime.memory(owner());
    await memory.remember({ kind: 'fact', content: 'kept' });
    await allMade();
    const setModel = (modelId: string) =>
      database().query('UPDATE turnlock.agent_memory_embedding_settings SET model_id = $1', [modelId]);
    await setModel('newer');
    try {
      expect(contents(await memory.recall({ query: 'keep' }))).toEqual([]);
      await memory.remember({ kind: 'fact', content: 'later' });
      await waitFor(() => warnings.length > 0, { for: 'the warning' });
      expect([codes(), await owed()]).toEqual([['EMBEDDING_MISMATCH'], 1]);
    } finally {
      await setModel(ngrams.modelId);
    }
    const next = await open(ngrams, { limits: { sweepMs: 20 } });
    await next.start();
    await allMade();
  });

  test('a vector that could not be made is owed until a worker makes it', async () => {
    let fails = true;
    const embedder = embedderThat((_, purpose) => {
      if (fails && purpose === 'document') throw new TurnlockError('EMBEDDING_FAILED', { message: 'busy' });
    });
    const { warnings, onWarning } = heard();
    const runtime = await open(embedder, { limits: { sweepMs: 20 }, onWarning });
    const memory = runtime.memory(owner());
    await memory.remember({ kind: 'fact', content: 'tried again' });
    await waitFor(() => warnings.length > 0, { for: 'the warning' });
    await waitFor(async () => (await lastError()) === 'EMBEDDING_FAILED', { for: 'the task to be put off' });
    fails = false;
    await runtime.start();
    await database().moveClock(11_000);
    await allMade();
    expect((await memory.recall({ query: 'again', by: 'vector' })).memories).toHaveLength(1);
  });

  async function lastError(): Promise<string | null> {
    const rows = await database().query('SELECT last_error_code AS code FROM turnlock.agent_memory_tasks');
    return rows[0]?.code ?? null;
  }

  test('one text that is refused for good does not keep the others of its batch', async () => {
    const picky: Embedder = {
      ...ngrams,
      embed: async (texts, context) => {
        if (texts.some((text) => text.includes('refused')))
          throw new TurnlockError('EMBEDDING_FAILED', { message: 'too long', retryable: false });
        return ngrams.embed(texts, context);
      },
    };
    const textOnly = await openRuntime(database(), [agent]);
    const who = owner();
    for (const content of ['fine', 'refused', 'good']) {
      await textOnly.memory(who).remember({ kind: 'fact', content });
    }
    expect(await owed()).toBe(3);
    const runtime = await open(picky, { limits: { sweepMs: 20 } });
    await runtime.start();
    await waitFor(async () => (await lastError()) === 'EMBEDDING_FAILED' && (await owed()) === 1, {
      for: 'the two to be made',
    });
    await runtime.memory(who).forget({ all: true });
    expect(await owed()).toBe(0);
  });

  test('closing gives back what is being embedded: another process makes it at once', async () => {
    const asked = gate();
    const embedder = embedderThat(async (signal, purpose) => {
      if (purpose !== 'document') return;
      asked.open();
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const runtime = await open(embedder);
    const who = owner();
    await runtime.memory(who).remember({ kind: 'fact', content: 'handed over' });
    await asked.opened;
    await runtime.close();
    const rows = await database().query('SELECT attempts FROM turnlock.agent_memory_tasks');
    expect(rows).toEqual([{ attempts: 0 }]);
    const next = await open(ngrams, { limits: { sweepMs: 20 } });
    await next.start();
    await allMade();
    expect((await next.memory(who).recall({ query: 'over', by: 'vector' })).memories).toHaveLength(1);
  });

  test('a run that is cancelled while its recall waits for the embedder is over at once', async () => {
    const asked = gate();
    const embedder = embedderThat((_signal, purpose) => {
      if (purpose !== 'query') return;
      asked.open();
      return new Promise(() => undefined);
    });
    const { onWarning, codes } = heard();
    const recalling = defineAgent({
      name: `agent-${randomUUID().slice(0, 8)}`,
      model: scripted('never'),
      instructions: 'Do it.',
      recall: true,
    });
    const runtime = await openRuntime(database(), [recalling], {
      memory: { embedder },
      limits: { embedTimeoutMs: 3_600_000 },
      onWarning,
    });
    const session = await openSession(runtime, recalling, owner());
    const run = await session.send('apple');
    await asked.opened;
    await session.cancel();
    expect(await run.result()).toMatchObject({ state: 'IDLE', reply: null });
    expect(codes()).toEqual([]);
  });

  test('a tool that is out while its runtime closes recalls by text', async () => {
    const [started, goes] = [gate(), gate()];
    const look = looseTool('look', async (_params, { memory }) => {
      started.open();
      await goes.opened;
      return (await memory.recall({ query: 'apple' })).map(({ content }) => content);
    });
    const asking = scriptedAgent(eachRun({ toolCalls: [call('look')] }, 'done'), [look]);
    const memory = { embedder: ngrams };
    const runtime = await openRuntime(database(), [asking], { memory, limits: { graceMs: 5_000 } });
    const who = owner();
    await runtime.memory(who).remember({ kind: 'fact', content: 'an apple' });
    const session = await openSession(runtime, asking, who);
    await session.send('go');
    await started.opened;
    const closed = runtime.close();
    goes.open();
    await closed;
    const rows = await database().query(
      'SELECT status, output_payload FROM turnlock.agent_tool_executions WHERE session_id = $1',
      [session.sessionId],
    );
    expect(rows).toEqual([{ status: 'SUCCESS', output_payload: ['an apple'] }]);
  });

  test('a vector goes with its memory, and a superseded memory is owed none', async () => {
    const textOnly = await openRuntime(database(), [agent]);
    const memory = textOnly.memory(owner());
    const { memoryId } = await memory.remember({ kind: 'fact', content: 'old' });
    await memory.remember({ kind: 'fact', content: 'new', supersedes: [memoryId] });
    expect(await owed()).toBe(1);
    const runtime = await open(ngrams, { limits: { sweepMs: 20 } });
    await runtime.start();
    await allMade();
    await memory.forget({ all: true });
    const rows = await database().query(
      'SELECT count(*)::int AS count FROM turnlock.agent_memory_embeddings WHERE user_id = $1',
      [memory.userId],
    );
    expect(rows).toEqual([{ count: 0 }]);
  });

  test('an erasure takes the vectors of a user, and doctor tells of memories that have none', async () => {
    const runtime = await open();
    const memory = runtime.memory({ tenantId: `tenant-${randomUUID()}`, userId: 'ana' });
    const { tenantId } = memory;
    const codes = async () => (await runtime.doctor({ tenantId })).findings.map(({ code }) => code);
    await memory.remember({ kind: 'fact', content: 'to be erased' });
    await allMade();
    expect(await codes()).not.toContain('MEMORY_NOT_EMBEDDED');
    await database().query('DELETE FROM turnlock.agent_memory_embeddings WHERE tenant_id = $1', [tenantId]);
    expect(await codes()).toContain('MEMORY_NOT_EMBEDDED');
    await memory.remember({ kind: 'fact', content: 'this one too' }, { embed: 'before' });
    expect(await runtime.eraseUser({ tenantId, userId: 'ana', by: 'ann' })).toMatchObject({ memories: 2 });
    const rows = await database().query('SELECT FROM turnlock.agent_memory_embeddings WHERE tenant_id = $1', [
      tenantId,
    ]);
    expect(rows).toEqual([]);
    expect(await codes()).not.toContain('MEMORY_NOT_EMBEDDED');
  });

  test('users and tenants have their own vectors', async () => {
    const runtime = await open();
    const tenants = ['user/1', 'user/12', '%'];
    for (const tenantId of tenants) {
      for (const userId of tenants) {
        await runtime.memory({ tenantId, userId }).remember({ kind: 'fact', content: `of ${tenantId} and ${userId}` });
      }
    }
    await allMade();
    for (const tenantId of tenants) {
      for (const userId of tenants) {
        const found = await runtime.memory({ tenantId, userId }).recall({ query: 'of user and', limit: 100 });
        expect([found.searchedBy, contents(found)]).toEqual(['hybrid', [`of ${tenantId} and ${userId}`]]);
      }
    }
  });
};
