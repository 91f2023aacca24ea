import { expect, test } from 'vitest';
import { headerText } from '../../../adapters/cli/header-text.ts';
import { readSessionRecord } from '../../../adapters/cli/session-record.ts';
import { showJson } from '../../../adapters/cli/show-json.ts';
import { timelineText } from '../../../adapters/cli/show-text.ts';
import { openTerminal } from '../../../adapters/cli/terminal.ts';
import { openStore } from '../../support/open-store.ts';
import { onPostgres } from '../../support/runtime-database.ts';
import { openRuntime, openSession } from '../../support/runtime-open.ts';
import { describeChildWorkers } from './child-worker-suite.ts';
import { agentOf, asking, childrenOf } from './scene.ts';

onPostgres((database) => {
  describeChildWorkers(database);

  /** A session that has had a child, at rest. */
  async function withChild() {
    const research = agentOf('research', 'found');
    const boss = agentOf('boss', asking({ toolName: 'research', input: { message: 'x' } }), [
      research.asTool({ name: 'research' }),
    ]);
    const session = await openSession(await openRuntime(database(), [boss]), boss);
    await (await session.send('go')).result();
    const [child] = await childrenOf(database(), session);
    return { session, child: child! };
  }

  test('turnlock show prints the child with its call, and the parent of the child', async () => {
    const { session, child } = await withChild();
    const store = await openStore(database());
    const { tenantId, sessionId } = session;
    const record = await readSessionRecord(store, { tenantId, sessionId });
    const { colours } = openTerminal({ color: false } as never);
    const lines = timelineText(record, colours, { columns: 200, lines: 8 });
    expect(lines.join('\n')).toContain(`child session ${child.id}`);
    expect(showJson(record, {})).toMatchObject({
      executions: [{ childSessionId: child.id }],
      session: { parent: null },
    });
    const below = await readSessionRecord(store, { tenantId, sessionId: child.id });
    expect(headerText(below, colours, 200).join('\n')).toContain(`session ${sessionId}, execution ${child.execution}`);
  });

  test('C66 a child of another tenant cannot be: the database refuses the row, whoever writes it', async () => {
    const { child } = await withChild();
    const copy = (parent: string, execution: string) =>
      database().query(
        `INSERT INTO turnlock.agent_sessions (session_id, tenant_id, user_id, agent_name, agent_version, active_model_id, machine_id,
            machine_version, snapshot, parent_session_id, parent_execution_id)
          SELECT gen_random_uuid(), 'other', user_id, agent_name, agent_version, active_model_id, machine_id, machine_version, snapshot,
            ${parent}, ${execution} FROM turnlock.agent_sessions WHERE session_id = $1`,
        [child.id],
      );
    await expect(copy('parent_session_id', 'NULL')).rejects.toThrow('fk_session_parent');
    await expect(copy('NULL', 'parent_execution_id')).rejects.toThrow('fk_session_parent_execution');
  });
});
