import { expect, test } from 'vitest';
import { SCHEMA_REFUSALS } from '../../../persistence/schema-refusals.ts';
import type { Sql } from '../scene.ts';
import { auditCases } from './audit.cases.ts';
import { functionCases } from './function.cases.ts';
import { memoryCases, memoryFunctionCases } from './memory.cases.ts';
import type { RefusalCase } from './refusal-case.ts';
import { sessionCases } from './session.cases.ts';
import { workCases } from './work.cases.ts';

const CASES = [...sessionCases, ...auditCases, ...workCases, ...memoryCases, ...functionCases, ...memoryFunctionCases];

/** Every refusal fires, and fires because of the guard it names: without that guard the same attempt is not refused by its code. */
export function describeRefusals(open: () => Sql): void {
  test.each(CASES)('$code $title', async (refusal) => {
    const error = await attempt(open(), refusal);
    expect(error).toMatchObject({ code: refusal.code, constraint: SCHEMA_REFUSALS[refusal.code].name });
  });

  // A cascade may meet the same guard on another table, hence the table.
  test.each(CASES.filter((refusal) => refusal.guard))('only $guard refuses $title', async (refusal) => {
    const { code, table } = ((await attempt(open(), refusal, refusal.guard)) ?? {}) as {
      code?: string;
      table?: string;
    };
    expect([code, table]).not.toEqual([refusal.code, refusal.guard?.split(' on ')[1]]);
  });

  test('every code has a case', () => {
    expect([...new Set(CASES.map((refusal) => refusal.code))].sort()).toEqual(Object.keys(SCHEMA_REFUSALS));
  });
}

/** Runs a case in a transaction that is rolled back, with the deferred checks of COMMIT made now. */
async function attempt(sql: Sql, { arrange, attempt }: RefusalCase, without?: RefusalCase['guard']): Promise<unknown> {
  await sql.query('BEGIN');
  try {
    const arranged = await arrange?.(sql);
    if (without) {
      // Pending checks forbid the ALTER TABLE; what was arranged is legal, so they pass.
      await sql.query('SET CONSTRAINTS ALL IMMEDIATE');
      await sql.query('SET CONSTRAINTS ALL DEFERRED');
      const [name, table] = without.split(' on ');
      await sql.query(`ALTER TABLE turnlock.${table} DISABLE TRIGGER ${name}`);
    }
    await attempt(sql, arranged);
    await sql.query('SET CONSTRAINTS ALL IMMEDIATE');
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await sql.query('ROLLBACK');
  }
}
