import { randomUUID } from 'node:crypto';
import { insertSession, TENANT } from '../scene.ts';
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

const arrange: RefusalCase['arrange'] = (sql) => insertSession(sql);

export const functionCases: RefusalCase[] = [
  { code: 'TL060', title: 'create_session without a tenant', attempt: create({ tenant_id: '' }) },
  { code: 'TL060', title: 'create_session with a null user', attempt: create({ user_id: null }) },
  { code: 'TL060', title: 'create_session with an empty external id', attempt: create({ external_id: '' }) },
  { code: 'TL060', title: 'create_session with an array as snapshot', attempt: create({ snapshot: '[]' }) },
  { code: 'TL060', title: 'enqueue with another whenBusy', arrange, attempt: enqueue({ whenBusy: 'sometimes' }) },
  { code: 'TL060', title: 'enqueue with an empty message id', arrange, attempt: enqueue({ message: '' }) },
  {
    code: 'TL060',
    title: 'find_sessions without a criterion',
    attempt: (sql) => sql.query('SELECT * FROM turnlock.find_sessions()'),
  },
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
