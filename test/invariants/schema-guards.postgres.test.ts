import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshDatabase } from '../support/fresh-database.ts';
import type { Scene, SchemaGuard } from './guard.ts';
import { NO_GUARDS, schemaGuards } from './schema-guards.ts';

const SCENES = schemaGuards.flatMap((guard) => guard.scenes.map((scene) => ({ guard, scene, ...guard, ...scene })));

const CATALOG = `
  SELECT 'trigger ' || tgname || ' on ' || c.relname AS name FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE c.relnamespace = 'turnlock'::regnamespace AND NOT tgisinternal
  UNION ALL SELECT 'constraint ' || conname || ' on ' || c.relname FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    WHERE k.connamespace = 'turnlock'::regnamespace AND contype IN ('c', 'u', 'f', 'p') AND c.relname NOT IN ('migrations')
  UNION ALL SELECT 'policy ' || policyname || ' on ' || tablename FROM pg_policies WHERE schemaname = 'turnlock'`;

/** Each guard of the live schema, alone: what it prevents happens once it is taken out, and only then. */
describe('the guards of the schema', () => {
  let client: pg.Client;
  beforeAll(async () => {
    const { url } = await freshDatabase();
    client = new pg.Client({ connectionString: url });
    await client.connect();
  });
  afterAll(() => client.end());

  test.each(SCENES)('$name: $title', async ({ guard, scene }) => {
    expect(await play(client, guard, scene, true)).toEqual({ refusal: scene.refusal ?? null, isBroken: false });
    expect(await play(client, guard, scene, false)).toEqual({ refusal: null, isBroken: true });
  });

  test('every trigger, constraint and policy is in the table, or is said to be no guard', async () => {
    const { rows } = await client.query(CATALOG);
    const known = [...schemaGuards.flatMap(({ covers }) => covers), ...Object.keys(NO_GUARDS)];
    expect(known.sort()).toEqual(rows.map(({ name }) => name).sort());
  });

  test('every guard has a scene', () => {
    expect(schemaGuards.filter(({ scenes }) => scenes.length === 0)).toEqual([]);
  });
});

/** Plays a scene in a transaction that is rolled back, with the deferred checks of COMMIT made at its end. */
async function play(
  client: pg.Client,
  { takeOut, inFront = [] }: SchemaGuard,
  { arrange, attempt, isBroken = () => true }: Scene,
  isGuarded: boolean,
): Promise<{ refusal: string | null; isBroken: boolean }> {
  await client.query('BEGIN');
  try {
    // A trigger that writes must be out before the scene, one that only refuses may be.
    for (const statement of [...inFront, ...(isGuarded ? [] : [takeOut])]) await client.query(statement);
    const arranged = await arrange?.(client);
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    await client.query('SET CONSTRAINTS ALL DEFERRED');
    let answer: unknown;
    try {
      answer = await attempt(client, arranged);
      await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    } catch (error) {
      return { refusal: (error as { code: string }).code, isBroken: false };
    }
    return { refusal: null, isBroken: await isBroken(client, arranged, answer) };
  } finally {
    await client.query('ROLLBACK');
  }
}
