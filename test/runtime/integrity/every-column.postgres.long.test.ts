import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, type Runtime, requireApproval, type Session, ToolError } from '../../../index.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';
import { call, looseTool } from '../../support/runtime-script.ts';
import { NOT_COVERED } from './not-covered.ts';

const TABLES = [
  'agent_sessions',
  'agent_turns',
  'agent_tool_executions',
  'agent_approvals',
  'agent_transitions',
  'agent_transition_payloads',
  'agent_model_calls',
  'agent_idempotency_claims',
];

/** Findings that are about the server of the tests, and about the constraints that stand in the way of this one. */
const OF_THE_SERVER = ['FSYNC_OFF', 'RLS_BYPASSED', 'SCHEMA_DIFFERS'];

onPostgres((database) => {
  let owner: pg.Client;
  let runtime: Runtime;
  let session: Session;
  beforeAll(async () => {
    const tools = [
      defineTool({
        name: 'pay',
        description: 'Pays.',
        inputSchema: z.looseObject({}),
        once: { per: 'tenant', key: () => 'order' },
        execute: () => ({ paid: true }),
      }),
      looseTool('ask', () => 'asked', {
        effect: 'nonRepeatable',
        policy: () => requireApproval({ question: 'May I?', approvers: { users: ['ann'] } }),
      }),
      looseTool('lose', () => Promise.reject(new ToolError('nobody knows', { outcome: 'unknown' })), {
        effect: 'nonRepeatable',
      }),
    ];
    const agent = scriptedAgent((request) => {
      const last = request.turns.at(-1);
      return last?.role === 'user' ? { toolCalls: [call(last.text ?? '', { n: 1 })] } : 'done';
    }, tools);
    runtime = await openRuntime(database(), [agent], { adapter: database().adapter() });
    session = await openSession(runtime, agent, { externalId: 'order-1', metadata: { vip: false } });
    for (const text of ['pay', 'ask']) await (await session.send(text)).result();
    const [asked] = (await session.status()).awaiting;
    await (await session.approve(asked!.executionId, { by: 'ann', digest: asked!.digest })).result();
    await (await session.send('lose')).result();
    const [lost] = (await session.status()).awaiting;
    await (await session.settle(lost!.executionId, { outcome: 'succeeded', output: { ok: 1 }, by: 'ann' })).result();
    owner = new pg.Client({ connectionString: database().url });
    await owner.connect();
    await owner.query("SET session_replication_role = 'replica'");
    // Whoever passes triggers passes what a column may hold, too.
    const { rows: checks } = await owner.query(
      `SELECT conname AS name, conrelid::regclass::text AS place FROM pg_constraint WHERE contype = 'c' AND connamespace = 'turnlock'::regnamespace`,
    );
    for (const { name, place } of checks) await owner.query(`ALTER TABLE ${place} DROP CONSTRAINT ${name}`);
  });
  afterAll(async () => {
    await owner.end();
    await runtime.close();
  });

  /** Codes of what verify and doctor find. */
  async function found(): Promise<string[]> {
    const { findings } = await session.verify();
    const report = await runtime.doctor({ tenantId: 'tenant', sessionId: session.sessionId });
    return [...findings, ...report.findings].map(({ code }) => code).filter((code) => !OF_THE_SERVER.includes(code));
  }

  /** What looks at a session whose `column` of one row is another one; the row is put back. */
  async function foundWith(table: string, column: string, value: string): Promise<string[]> {
    const where = table === 'agent_idempotency_claims' ? 'true' : `session_id = '${session.sessionId}'`;
    const { rows } = await owner.query(
      `SELECT ctid::text AS place FROM turnlock.${table} WHERE ${where} ORDER BY ctid`,
    );
    const { place } = rows[Math.floor(rows.length / 2)];
    await owner.query(`CREATE TEMP TABLE before AS SELECT * FROM turnlock.${table} WHERE ctid = '${place}'`);
    const changed = await owner.query(
      `UPDATE turnlock.${table} SET ${column} = ${value} WHERE ctid = '${place}' RETURNING ctid::text AS place`,
    );
    try {
      return await found();
    } catch (error) {
      return [(error as { code?: string }).code ?? 'threw'];
    } finally {
      await owner.query(`DELETE FROM turnlock.${table} WHERE ctid = '${changed.rows[0].place}'`);
      await owner.query(`INSERT INTO turnlock.${table} SELECT * FROM before`);
      await owner.query('DROP TABLE before');
    }
  }

  test('every column of every table of the audit is looked at, or is in the list of those that are not', async () => {
    expect(await found()).toEqual([]);
    const unseen: string[] = [];
    for (const table of TABLES) {
      const { rows: columns } = await owner.query(
        `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
          WHERE attrelid = 'turnlock.${table}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
      );
      for (const { name, type } of columns) {
        if (name === 'session_id' || name === 'tenant_id') continue;
        const codes = await foundWith(table, name, anotherOf(name, type));
        if (codes.length === 0) unseen.push(`${table}.${name}`);
      }
    }
    expect(await found()).toEqual([]);
    expect(unseen.sort()).toEqual(Object.keys(NOT_COVERED).sort());
    const page = readFileSync('docs/audit.md', 'utf8');
    for (const [column, why] of Object.entries(NOT_COVERED)) expect(page).toContain(`| \`${column}\` | ${why} |`);
  });
});

/** Another value than a column has. */
function anotherOf(name: string, type: string): string {
  switch (type) {
    case 'uuid':
      return 'gen_random_uuid()';
    case 'jsonb':
      return `'{"other": 1}'::jsonb`;
    case 'timestamp with time zone':
      return `coalesce(${name}, now()) - interval '10 days'`;
    case 'integer':
    case 'bigint':
    case 'smallint':
      return `coalesce(${name}, 0) + 1000`;
    default:
      return `'zz' || left(coalesce(${name}, ''), 12)`;
  }
}
