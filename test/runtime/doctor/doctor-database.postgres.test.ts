import { expect, test } from 'vitest';
import { systemEnvironment } from '../../../environment.ts';
import { DOCTOR_CODES, type DoctorCode } from '../../../index.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession, scriptedAgent } from '../../support/runtime-open.ts';

/** What the tests' own server is like: it flushes nothing, and the tests own the tables. */
const OF_THE_TEST_SERVER: readonly DoctorCode[] = ['FSYNC_OFF', 'RLS_BYPASSED', 'SYNCHRONOUS_COMMIT_OFF'];

onPostgres((database) => {
  const agent = scriptedAgent('done');

  async function findings(environment = systemEnvironment) {
    const runtime = await openRuntime(database(), [agent], { environment });
    const { findings: found } = await runtime.doctor();
    return found.filter(({ code }) => !OF_THE_TEST_SERVER.includes(code));
  }

  test('nothing is wrong with a database that was migrated', async () => {
    expect(await findings()).toEqual([]);
  });

  test.each([
    [
      'a trigger that does not fire',
      'ALTER TABLE turnlock.agent_turns DISABLE TRIGGER guard_turn_update',
      'trigger guard_turn_update on agent_turns',
      'ALTER TABLE turnlock.agent_turns ENABLE TRIGGER guard_turn_update',
    ],
    [
      'row-level security that is off',
      'ALTER TABLE turnlock.agent_turns DISABLE ROW LEVEL SECURITY',
      'table agent_turns',
      'ALTER TABLE turnlock.agent_turns ENABLE ROW LEVEL SECURITY',
    ],
    [
      'an index that is gone',
      'DROP INDEX turnlock.idx_tool_open',
      'index idx_tool_open',
      `CREATE INDEX idx_tool_open ON turnlock.agent_tool_executions (session_id) WHERE status IN ('PENDING', 'RUNNING')`,
    ],
    [
      'a constraint that says something else',
      'ALTER TABLE turnlock.agent_sessions DROP CONSTRAINT check_session_counters, ADD CONSTRAINT check_session_counters CHECK (version >= 0)',
      'constraint check_session_counters on agent_sessions',
      `ALTER TABLE turnlock.agent_sessions DROP CONSTRAINT check_session_counters, ADD CONSTRAINT check_session_counters
        CHECK (version >= 0 AND lease_token >= 0 AND recoveries >= 0 AND depth >= 0)`,
    ],
    [
      'a column of another type',
      'ALTER TABLE turnlock.agent_turns ALTER COLUMN metadata TYPE json',
      'table agent_turns',
      'ALTER TABLE turnlock.agent_turns ALTER COLUMN metadata TYPE jsonb',
    ],
    [
      'a function that everybody may call',
      'GRANT EXECUTE ON FUNCTION turnlock.list_controls() TO PUBLIC',
      'right of everybody on FUNCTION turnlock.list_controls()',
      'REVOKE EXECUTE ON FUNCTION turnlock.list_controls() FROM PUBLIC',
    ],
  ])('SCHEMA_DIFFERS: %s', async (_, breaks, place, mends) => {
    await database().query(breaks);
    expect((await findings()).map((finding) => [finding.code, finding.place])).toContainEqual([
      'SCHEMA_DIFFERS',
      place,
    ]);
    await database().query(mends);
    expect(await findings()).toEqual([]);
  });

  test('what is there beside ours is left alone', async () => {
    await database().query('CREATE INDEX index_of_yours ON turnlock.agent_turns (created_at)');
    await database().query('CREATE TABLE turnlock.of_yours (id int)');
    expect((await findings()).filter(({ severity }) => severity === 'error')).toEqual([]);
    await database().query('DROP INDEX turnlock.index_of_yours; DROP TABLE turnlock.of_yours');
  });

  test('CLOCK_SHIFTED: the clock of leases was moved', async () => {
    await database().moveClock(3_600_000);
    expect(await findings()).toMatchObject([{ code: 'CLOCK_SHIFTED', found: '3600 s' }]);
    await database().moveClock(-3_600_000);
  });

  test.each([
    ['ahead', -7_200_000],
    ['behind', 7_200_000],
  ])('CLOCK_SKEW: the database is %s of its host by two hours', async (which, ms) => {
    const off = { ...systemEnvironment, now: () => systemEnvironment.now() + ms };
    expect(await findings(off)).toMatchObject([
      { code: 'CLOCK_SKEW', severity: 'warning', found: expect.stringMatching(`^the database \\d+ ms ${which}$`) },
    ]);
  });

  test('settings that weaken a promise are warnings', async () => {
    const runtime = await openRuntime(database(), [agent]);
    await openSession(runtime, agent);
    const { findings: found } = await runtime.doctor();
    expect(found).toMatchObject([{ code: 'FSYNC_OFF' }, { code: 'RLS_BYPASSED' }]);
    for (const { code, severity } of found) expect(severity).toBe(DOCTOR_CODES[code].severity);
  });
});
