import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { onPostgres } from '../../support/runtime-database.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runTurnlock } from './run-turnlock.ts';

const ANA = ['--tenant', 'acme', '--user', 'ana'];

onPostgres((database) => {
  let folder = '';
  const turnlock = async (...args: string[]) => {
    const end = await runTurnlock(folder, [...args, '--json'], { TURNLOCK_DATABASE_URL: database().url });
    return { code: end.code, said: JSON.parse(end.stdout || end.stderr) };
  };
  /** The configuration's embedder from now on. */
  const embedBy = (modelId: string, dimensions: number) => {
    const sources = (file: string) => JSON.stringify(pathToFileURL(resolve(file)).href);
    return writeFile(
      join(folder, 'turnlock.config.ts'),
      `import { hashedNgrams } from ${sources('adapters/embedders/hashed-ngrams.ts')};
export default { memory: { embedder: { ...hashedNgrams({ dimensions: ${dimensions} }), modelId: '${modelId}' } } };\n`,
    );
  };
  const contents = (said: { memories: { content: string }[] }) => said.memories.map(({ content }) => content);

  beforeAll(async () => {
    folder = await temporaryFolder('turnlock-memory-');
    await embedBy('first', 256);
    for (const content of ['Ana drinks tea', 'Ana plays the piano', 'Ana lives in Lisbon']) {
      await database().query(
        `SELECT turnlock.remember(tenant_id => 'acme', user_id => 'ana', kind => 'fact', content => $1)`,
        [content],
      );
    }
  });

  test('migrate makes the table of vectors, reembed the vectors, and those of another model anew', async () => {
    expect(await turnlock('migrate', '--embedding-dimensions', '4000')).toMatchObject({ code: 2 });
    const made = await turnlock('migrate', '--embedding-dimensions');
    expect(made).toMatchObject({ code: 0, said: { embeddings: { modelId: 'first', dimensions: 256 } } });
    const wanted = { modelId: 'first', dimensions: 256 };
    expect((await turnlock('memory', 'reembed', '--dry-run')).said).toEqual({
      ...{ dryRun: true, kept: wanted, wanted, made: 0, left: 3 },
    });
    expect(await turnlock('memory', 'reembed')).toMatchObject({ code: 0, said: { made: 3, left: 0 } });
    const found = await turnlock('memory', 'recall', 'pianos', ...ANA);
    expect([found.code, contents(found.said)[0]]).toEqual([0, 'Ana plays the piano']);
    await embedBy('second', 128);
    expect(await turnlock('migrate', '--embedding-dimensions')).toMatchObject({
      code: 3,
      said: { error: { code: 'EMBEDDING_MISMATCH' } },
    });
    expect(contents((await turnlock('memory', 'recall', 'piano', ...ANA)).said)).toEqual(['Ana plays the piano']);
    expect(await turnlock('memory', 'reembed')).toMatchObject({ code: 0, said: { made: 3, left: 0 } });
    expect(await turnlock('memory', 'reembed')).toMatchObject({ code: 0, said: { made: 0, left: 0 } });
    const anew = await turnlock('memory', 'recall', 'pianos', ...ANA);
    expect(contents(anew.said)[0]).toBe('Ana plays the piano');
    expect(anew.said.memories[0].similarity).toBeGreaterThan(0);
  });

  test('list shows what is remembered of a user, and forget deletes it', async () => {
    const { said } = await turnlock('memory', 'list', ...ANA);
    expect(contents(said)).toHaveLength(3);
    const [{ memoryId }] = said.memories;
    expect((await turnlock('memory', 'forget', ...ANA, '--id', memoryId)).said).toEqual({ forgotten: 1 });
    expect((await turnlock('memory', 'list', '--tenant', 'acme', '--user', 'ben')).said).toEqual({ memories: [] });
    expect(await turnlock('memory', 'forget', ...ANA)).toMatchObject({ code: 2 });
    expect(await turnlock('memory', 'list', '--tenant', 'acme')).toMatchObject({ code: 2 });
    for (const misunderstood of [
      ['forget', ...ANA, '--all', '--dry-run'],
      ['forget', 'pianos', ...ANA, '--all'],
      ['forget', ...ANA, '--all', '--id', said.memories[1].memoryId],
      ['forget', ...ANA, '--kind', 'episode', '--id', said.memories[1].memoryId],
      ['list', ...ANA, '--all'],
      ['reembed', '--tenant', 'acme'],
    ]) {
      const { code, said } = await turnlock('memory', ...misunderstood);
      expect([code, said.error?.code]).toEqual([2, 'OPTIONS_INVALID']);
    }
    expect(contents((await turnlock('memory', 'list', ...ANA)).said)).toHaveLength(2);
    expect((await turnlock('memory', 'forget', ...ANA, '--all')).said).toEqual({ forgotten: 2 });
  });
});
