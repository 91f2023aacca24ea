import { insertCall, insertExecution, insertSession, insertTurn, move, TENANT } from '../scene.ts';
import type { RefusalCase } from './refusal-case.ts';

const insertGuard = 'guard_execution_insert on agent_tool_executions';
const updateGuard = 'guard_execution_update on agent_tool_executions';

const call = (over: Record<string, unknown> = {}): RefusalCase['arrange'] => {
  return async (sql) => {
    const { sessionId, executionId } = await insertCall(sql, over);
    await move(sql, sessionId, 'EXECUTING_TOOL');
    return executionId;
  };
};
const running = call({ status: 'RUNNING', attempt: 1, fencing_token: 1 });
const update = (set: string): RefusalCase['attempt'] => {
  return (sql, id) => sql.query(`UPDATE turnlock.agent_tool_executions SET ${set} WHERE execution_id = $1`, [id]);
};

const begun = (title: string, over: Record<string, unknown>): RefusalCase => ({
  code: 'TL030',
  title,
  guard: insertGuard,
  attempt: (sql) => insertCall(sql, over),
});

const approval = (set: string): RefusalCase['arrange'] => {
  return async (sql) => {
    const { sessionId, executionId } = await insertCall(sql);
    await sql.query(
      `INSERT INTO turnlock.agent_approvals (tenant_id, session_id, execution_id, args_digest, requested_at)
        VALUES ($1, $2, $3, 'digest', now())`,
      [TENANT, sessionId, executionId],
    );
    await move(sql, sessionId, 'EXECUTING_TOOL');
    if (set !== '') await updateApproval(set)(sql, executionId);
    return executionId;
  };
};
const updateApproval = (set: string): RefusalCase['attempt'] => {
  return (sql, id) => sql.query(`UPDATE turnlock.agent_approvals SET ${set} WHERE execution_id = $1`, [id]);
};
const sealed = (title: string, before: string, after: string): RefusalCase => ({
  code: 'TL040',
  title,
  guard: 'guard_approval_update on agent_approvals',
  arrange: approval(before) as NonNullable<RefusalCase['arrange']>,
  attempt: updateApproval(after),
});

export const workCases: RefusalCase[] = [
  begun('an execution that begins TIMED_OUT', { status: 'TIMED_OUT' }),
  begun('an execution that begins RUNNING without an attempt', { status: 'RUNNING', fencing_token: 1 }),
  begun('an execution that begins RUNNING without a token', { status: 'RUNNING', attempt: 1 }),
  begun('an execution that begins PENDING with an attempt', { attempt: 1 }),
  begun('an execution that begins settled with an attempt', { status: 'SUCCESS', attempt: 1 }),
  {
    code: 'TL031',
    title: 'an illegal change of status',
    guard: updateGuard,
    arrange: call() as NonNullable<RefusalCase['arrange']>,
    attempt: update(`status = 'TIMED_OUT'`),
  },
  {
    code: 'TL031',
    title: 'a change of a settled execution',
    guard: updateGuard,
    arrange: call({ status: 'SUCCESS' }) as NonNullable<RefusalCase['arrange']>,
    attempt: update(`output_payload = '1'`),
  },
  ...[
    ['tool_name', `'other'`],
    ['tool_version', '2'],
    ['effect', `'idempotent'`],
    ['ordinal', '4'],
    ['run_id', 'gen_random_uuid()'],
    ['provider_call_id', `'other'`],
    ['raw_input', `'other'`],
    ['answered_by', 'execution_id'],
  ].map(
    ([column, value]): RefusalCase => ({
      code: 'TL032',
      title: `another ${column} of an execution`,
      guard: updateGuard,
      arrange: call() as NonNullable<RefusalCase['arrange']>,
      attempt: update(`${column} = ${value}`),
    }),
  ),
  ...[
    ['idempotency_key', `'other'`],
    ['input_parameters', `'{"a":2}'`],
    ['params_digest', `'other'`],
    ['claim_digest', `'other'`],
  ].map(
    ([column, value]): RefusalCase => ({
      code: 'TL033',
      title: `another ${column} of a started execution`,
      guard: updateGuard,
      arrange: running as NonNullable<RefusalCase['arrange']>,
      attempt: update(`${column} = ${value}`),
    }),
  ),
  ...[
    ['params', approval(''), `input_parameters = '{"a":2}'`],
    ['digest', approval(''), `params_digest = 'other'`],
    ['key', approval(''), `idempotency_key = 'other'`],
    ['params and digest', approval(''), `input_parameters = '{"a":2}', params_digest = 'other'`],
    [
      'params, digest and key',
      call(),
      `input_parameters = '{"a":2}', params_digest = 'other', idempotency_key = 'other'`,
    ],
    ['claim', approval(''), `claim_digest = 'other'`],
    ['cost', approval(''), 'cost_micro_money = 1'],
    [
      'params of its own version',
      approval(''),
      `upgraded_parameters = '{}', upgraded_digest = 'other', upgraded_version = 1`,
    ],
    [
      'params of a later version',
      call(),
      `upgraded_parameters = '{}', upgraded_digest = 'other', upgraded_version = 2`,
    ],
    ['params of no version', approval(''), `upgraded_parameters = '{}'`],
  ].map(
    ([what, arrange, set]): RefusalCase => ({
      code: 'TL033',
      title: `other ${what} of a call that has not started`,
      guard: updateGuard,
      arrange: arrange as NonNullable<RefusalCase['arrange']>,
      attempt: update(set as string),
    }),
  ),
  {
    code: 'TL034',
    title: 'a start that counts no attempt',
    guard: updateGuard,
    arrange: call() as NonNullable<RefusalCase['arrange']>,
    attempt: update(`status = 'RUNNING', fencing_token = 1`),
  },
  {
    code: 'TL034',
    title: 'a start without a token',
    guard: updateGuard,
    arrange: call() as NonNullable<RefusalCase['arrange']>,
    attempt: update(`status = 'RUNNING', attempt = 1`),
  },
  {
    code: 'TL034',
    title: 'an attempt that falls',
    guard: updateGuard,
    arrange: running as NonNullable<RefusalCase['arrange']>,
    attempt: update('attempt = 0'),
  },
  {
    code: 'TL034',
    title: 'an attempt that jumps',
    guard: updateGuard,
    arrange: running as NonNullable<RefusalCase['arrange']>,
    attempt: update('attempt = 3'),
  },
  ...[
    { title: 'a start before anybody granted it', set: '' },
    { title: 'a start of what was denied', set: `decision = 'denied', decided_at = now()` },
    {
      title: 'a start with other params than those that were granted',
      set: `decision = 'granted', decided_at = now(), args_digest = 'other'`,
    },
  ].map(
    ({ title, set }): RefusalCase => ({
      code: 'TL036',
      title,
      guard: updateGuard,
      arrange: approval(set) as NonNullable<RefusalCase['arrange']>,
      attempt: update(`status = 'RUNNING', attempt = 1, fencing_token = 1`),
    }),
  ),
  {
    code: 'TL021',
    title: 'another content of a turn',
    guard: 'guard_turn_update on agent_turns',
    arrange: async (sql) => insertTurn(sql, await insertSession(sql), 0),
    attempt: (sql, id) => sql.query(`UPDATE turnlock.agent_turns SET content = 'x' WHERE turn_id = $1`, [id]),
  },
  {
    code: 'TL021',
    title: 'a renumbered turn',
    guard: 'guard_turn_update on agent_turns',
    arrange: async (sql) => insertTurn(sql, await insertSession(sql), 0),
    attempt: (sql, id) => sql.query('UPDATE turnlock.agent_turns SET turn_index = 5 WHERE turn_id = $1', [id]),
  },
  {
    code: 'TL021',
    title: 'a turn that forgets its execution',
    guard: 'guard_turn_update on agent_turns',
    arrange: async (sql) => {
      const { sessionId, turnId } = await insertCall(sql);
      const executionId = await insertExecution(sql, { sessionId, turnId });
      return insertTurn(sql, sessionId, 1, { role: 'tool', execution_id: executionId });
    },
    attempt: (sql, id) => sql.query('UPDATE turnlock.agent_turns SET execution_id = NULL WHERE turn_id = $1', [id]),
  },
  ...[
    ['agent_turns', call()] as const,
    ['agent_tool_executions', call()] as const,
    ['agent_approvals', approval('')] as const,
  ].map(
    ([table, arrange]): RefusalCase => ({
      code: 'TL022',
      title: `DELETE of ${table}`,
      guard: `guard_history_delete on ${table}`,
      arrange: arrange as NonNullable<RefusalCase['arrange']>,
      attempt: (sql) => sql.query(`DELETE FROM turnlock.${table}`),
    }),
  ),
  sealed('another decision', `decision = 'denied', decided_at = now()`, `decision = 'granted'`),
  sealed('a decision taken back', `decision = 'granted', decided_at = now()`, 'decision = NULL, decided_at = NULL'),
  sealed('other arguments after the decision', `decision = 'granted', decided_at = now()`, `args_digest = 'other'`),
  sealed(
    'an approval used twice',
    `decision = 'granted', decided_at = now(), consumed_at = now()`,
    `consumed_at = '2030-01-01'`,
  ),
  sealed('another round', '', 'round = 2'),
  sealed('other arguments while nobody has decided', '', `args_digest = 'other'`),
  ...[
    ['approvers', `'{"users":["mallory"]}'`],
    ['question', `'harmless?'`],
    ['expires_at', 'now()'],
    ['on_expiry', `'failSession'`],
    ['controls', `'[]'`],
    ['decided_by', `'mallory'`],
  ].map(([column, value]) => sealed(`another ${column} of an open round`, '', `${column} = ${value}`)),
  ...[
    ['decided_by', `'mallory'`],
    ['decided_at', `'2001-01-01'`],
    ['reason', `'mallory'`],
  ].map(([column, value]) =>
    sealed(`another ${column} of a grant`, `decision = 'granted', decided_at = now()`, `${column} = ${value}`),
  ),
  ...[
    {
      title: 'a round that begins decided',
      columns: `decision, decided_by, decided_at`,
      values: `'granted', 'boss', now()`,
    },
    { title: 'a round that begins with an answer', columns: 'reason', values: `'yes'` },
    { title: 'a second round while one is open', columns: 'round', values: '2' },
    { title: 'a round that leaves one out', columns: 'round', values: '3' },
  ].map(
    ({ title, columns, values }): RefusalCase => ({
      code: 'TL041',
      title,
      guard: 'guard_approval_insert on agent_approvals',
      arrange: (columns === 'round' && values === '2' ? approval('') : call()) as NonNullable<RefusalCase['arrange']>,
      attempt: (sql, id) =>
        sql.query(
          `INSERT INTO turnlock.agent_approvals (tenant_id, session_id, execution_id, args_digest, requested_at, ${columns})
            SELECT tenant_id, session_id, execution_id, 'digest', now(), ${values}
              FROM turnlock.agent_tool_executions WHERE execution_id = $1`,
          [id],
        ),
    }),
  ),
  {
    code: 'TL050',
    title: 'a message to a COMPLETED session',
    guard: 'guard_inbox_insert on agent_inbox',
    arrange: async (sql) => {
      const id = await insertSession(sql);
      await move(sql, id, 'COMPLETED');
      return id;
    },
    attempt: (sql, id) =>
      sql.query(`INSERT INTO turnlock.agent_inbox (tenant_id, session_id, content) VALUES ($1, $2, 'x')`, [TENANT, id]),
  },
  {
    code: 'TL021',
    title: 'a turn that is emptied though its session is not erased',
    guard: 'guard_turn_update on agent_turns',
    arrange: async (sql) => insertTurn(sql, await insertSession(sql), 0, { content: 'said' }),
    attempt: (sql, id) => sql.query('UPDATE turnlock.agent_turns SET content = NULL WHERE turn_id = $1', [id]),
  },
  {
    code: 'TL033',
    title: 'an execution that is emptied though its session is not erased',
    guard: updateGuard,
    arrange: running as NonNullable<RefusalCase['arrange']>,
    attempt: update(`input_parameters = '{}'`),
  },
  sealed(
    'a refusal that is emptied though its session is not erased',
    `decision = 'denied', decided_at = now(), decided_by = 'ann', reason = 'no'`,
    'decided_by = NULL, reason = NULL',
  ),
];
