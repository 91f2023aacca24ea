import { insertMemory, insertSession, type Sql, TENANT } from '../scene.ts';
import type { RefusalCase } from './refusal-case.ts';

const guard = 'guard_memory on agent_memories';

const arrange: RefusalCase['arrange'] = (sql) => insertMemory(sql);

const change = (set: string): RefusalCase => ({
  code: 'TL081',
  title: `a memory whose ${set.split(' ')[0]} changes`,
  guard,
  arrange,
  attempt: (sql, id) => sql.query(`UPDATE turnlock.agent_memories SET ${set} WHERE memory_id = $1`, [id]),
});

const remember = (over: Record<string, unknown>) => (sql: Sql) => {
  const given = { tenant_id: TENANT, user_id: 'user', kind: 'fact', content: 'content', ...over };
  const places = Object.keys(given).map((name, index) => `${name} => $${index + 1}`);
  return sql.query(`SELECT turnlock.remember(${places.join(', ')})`, Object.values(given));
};

const refused = (title: string, over: Record<string, unknown>): RefusalCase => ({
  code: 'TL060',
  title: `remember ${title}`,
  attempt: remember(over),
});

/** What guards memories. */
export const memoryCases: RefusalCase[] = [
  {
    code: 'TL080',
    title: 'a memory of a session of another user',
    guard,
    arrange: (sql) => insertSession(sql),
    attempt: (sql, id) => insertMemory(sql, { session_id: id, user_id: 'other' }),
  },
  change(`content = 'other'`),
  change(`kind = 'episode'`),
  change('created_at = now()'),
  {
    code: 'TL081',
    title: 'a memory that is superseded no more',
    guard,
    arrange: (sql) => insertMemory(sql, { superseded_at: new Date(0) }),
    attempt: (sql, id) =>
      sql.query('UPDATE turnlock.agent_memories SET superseded_at = NULL WHERE memory_id = $1', [id]),
  },
  {
    code: 'TL082',
    title: 'a memory in a language that the database does not have',
    guard,
    attempt: (sql) => insertMemory(sql, { language: 'klingon' }),
  },
];

/** What the functions that store them refuse. */
export const memoryFunctionCases: RefusalCase[] = [
  refused('without a tenant', { tenant_id: '' }),
  refused('of nobody', { user_id: null }),
  refused('of a user that blanks make too long', { user_id: `u${' '.repeat(64)}` }),
  refused('of no kind', { kind: 'rumour' }),
  refused('of nothing', { content: '' }),
  refused('of more than any runtime takes', { content: 'x'.repeat(1024 * 1024 + 1) }),
  refused('with an array as metadata', { metadata: '[]' }),
  refused('without a language', { language: '' }),
  refused('until for ever', { expires_at: 'infinity' }),
  refused('in place of nothing', { supersedes: '{NULL}' }),
  {
    code: 'TL064',
    title: 'remember of a known id with another content',
    arrange,
    attempt: (sql, id) => remember({ memory_id: id, content: 'other' })(sql),
  },
  {
    code: 'TL065',
    title: 'remember in place of another user’s memory',
    arrange: (sql) => insertMemory(sql, { user_id: 'other' }),
    attempt: (sql, id) => remember({ supersedes: [id] })(sql),
  },
  {
    code: 'TL066',
    title: 'remember in place of what was superseded before',
    arrange: (sql) => insertMemory(sql, { superseded_at: new Date(0) }),
    attempt: (sql, id) => remember({ supersedes: [id] })(sql),
  },
];
