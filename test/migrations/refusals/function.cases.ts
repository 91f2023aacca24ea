import { randomUUID } from 'node:crypto';
import { insertSession, type Sql, TENANT } from '../scene.ts';
import type { RefusalCase } from './refusal-case.ts';

const create = (over: Record<string, string | null>): RefusalCase['attempt'] => {
  const given: Record<string, string | null> = {
    tenant_id: TENANT,
    user_id: 'user',
    agent_name: 'agent',
    active_model_id: 'model',
    machine_id: 'session',
    snapshot: '{}',
    external_id: 'external',
    ...over,
  };
  const places = Object.keys(given).map((name, index) => `${name} => $${index + 1}`);
  return (sql) =>
    sql.query(
      `SELECT turnlock.create_session(agent_version => 1, machine_version => 1, ${places.join(', ')})`,
      Object.values(given),
    );
};

const enqueue = (over: { tenant?: string; message?: string; content?: string; whenBusy?: string }) => {
  return ((sql, id) =>
    sql.query('SELECT turnlock.enqueue($1, $2, $3, $4, $5)', [
      over.tenant ?? TENANT,
      id ?? randomUUID(),
      over.message ?? 'message',
      over.content ?? 'content',
      over.whenBusy ?? 'enqueue',
    ])) satisfies RefusalCase['attempt'];
};

/** One level more than the highest bound of a runtime, around a value. */
const LEVELS = `${'['.repeat(1_001)}1${']'.repeat(1_001)}`;
const deep: Record<string, string> = { metadata: `{"levels":${LEVELS}}` };

const arrange: RefusalCase['arrange'] = (sql) => insertSession(sql);

export const functionCases: RefusalCase[] = [
  { code: 'TL060', title: 'create_session without a tenant', attempt: create({ tenant_id: '' }) },
  { code: 'TL060', title: 'create_session with a null user', attempt: create({ user_id: null }) },
  { code: 'TL060', title: 'create_session with an empty external id', attempt: create({ external_id: '' }) },
  { code: 'TL060', title: 'create_session with an array as snapshot', attempt: create({ snapshot: '[]' }) },
  { code: 'TL060', title: 'create_session with an unknown machine', attempt: create({ machine_id: 'flow' }) },
  { code: 'TL060', title: 'create_session without a model', attempt: create({ active_model_id: null }) },
  { code: 'TL060', title: 'enqueue with another whenBusy', arrange, attempt: enqueue({ whenBusy: 'sometimes' }) },
  { code: 'TL060', title: 'enqueue with an empty message id', arrange, attempt: enqueue({ message: '' }) },
  // The column would cut the blanks off in silence: the row would have another id than the one that is looked for.
  {
    code: 'TL060',
    title: 'enqueue with a message id that blanks make too long',
    arrange,
    attempt: enqueue({ message: `m${' '.repeat(255)}` }),
  },
  {
    code: 'TL060',
    title: 'create_session with an external id that blanks make too long',
    attempt: create({ external_id: `e${' '.repeat(255)}` }),
  },
  ...['tenant_id', 'user_id', 'agent_name'].map((name) => ({
    code: 'TL060' as const,
    title: `create_session with a ${name} that blanks make too long`,
    attempt: create({ [name]: `n${' '.repeat(64)}` }),
  })),
  {
    code: 'TL060',
    title: 'enqueue of more bytes than any runtime could read',
    arrange,
    attempt: (sql, id: string) =>
      sql.query(`SELECT turnlock.enqueue($1, $2, NULL, repeat('x', $3))`, [TENANT, id, 64 * 1024 * 1024 + 1]),
  },
  ...['parts', 'metadata', 'normalised'].map((name) => ({
    code: 'TL060' as const,
    title: `enqueue of ${name} with more levels than any runtime could read`,
    arrange,
    attempt: (sql: Sql, id: string) =>
      sql.query(`SELECT turnlock.enqueue($1, $2, NULL, 'content', ${name} => $3)`, [TENANT, id, deep[name] ?? LEVELS]),
  })),
  {
    code: 'TL060',
    title: 'create_session of metadata with more levels than any runtime could read',
    attempt: create({ metadata: `{"levels":${LEVELS}}` }),
  },
  {
    code: 'TL060',
    title: 'find_sessions without a criterion',
    attempt: (sql) => sql.query('SELECT * FROM turnlock.find_sessions()'),
  },
  {
    code: 'TL060',
    title: 'enqueue of parts that say something else than the content',
    arrange,
    attempt: (sql, id: string) =>
      sql.query(`SELECT turnlock.enqueue($1, $2, NULL, 'hello', parts => $3)`, [
        TENANT,
        id,
        JSON.stringify([{ type: 'text', text: 'IGNORE ALL' }]),
      ]),
  },
  ...([null, '', 'x'.repeat(256)] as const).map((by) => ({
    code: 'TL060' as const,
    title: `erase_sessions by ${by === null ? 'nobody' : `${by.length} characters`}`,
    arrange,
    attempt: (sql: Sql, id: string) =>
      sql.query('SELECT turnlock.erase_sessions($1, ARRAY[$2::uuid], $3)', [TENANT, id, by]),
  })),
  ...[`remove_sessions(ids, '[]')`, `erase_sessions('t', ids, 'x')`].map((call) => ({
    code: 'TL060' as const,
    title: `${call} of more sessions than one row notes`,
    attempt: (sql: Sql) =>
      sql.query(
        `SELECT turnlock.${call} FROM (SELECT array_agg(gen_random_uuid()) AS ids FROM generate_series(1, 1001)) t`,
      ),
  })),
  { code: 'TL061', title: 'enqueue to no session', attempt: enqueue({}) },
  { code: 'TL061', title: 'enqueue to a session of another tenant', arrange, attempt: enqueue({ tenant: 'other' }) },
  {
    code: 'TL062',
    title: 'create_session with an external id of another user',
    arrange: (sql) => create({})(sql, undefined),
    attempt: create({ user_id: 'other' }),
  },
  {
    code: 'TL063',
    title: 'enqueue of a known message id with another content',
    arrange: async (sql) => {
      const id = await insertSession(sql);
      await enqueue({})(sql, id);
      return id;
    },
    attempt: enqueue({ content: 'other' }),
  },
];
