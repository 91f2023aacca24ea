import { chooseDatabase } from '../choose-database.ts';
import { serveInspector } from '../run-inspect.ts';
import { shellQuote } from '../shell-quote.ts';
import type { Terminal } from '../terminal.ts';
import type { Stage } from './stage.ts';

/** Shows what a demonstration left on a page, until the process is ended. */
export async function showSessions(stage: Stage, terminal: Terminal): Promise<void> {
  const { database, tenantId } = stage.setup;
  await stage.endWorkers(); // an embedded database is one process's
  const settings = { database: chooseDatabase(database, { mustExist: true }) };
  const viewer = { tenantId, by: 'turnlock demo', roles: [] };
  terminal.line();
  await serveInspector(settings, terminal, {
    viewer,
    decide: false,
    host: '127.0.0.1',
    port: undefined,
    token: undefined,
  });
}

/** Says how to see the sessions on a page. An embedded database is gone with the demonstration. */
export function offerInspector({ setup: { database, tenantId } }: Stage, terminal: Terminal): void {
  const { bold } = terminal.colours;
  const command = /^postgres(ql)?:/.test(database)
    ? `turnlock inspect --database ${/:[^/@]*@/.test(database.slice(11)) ? '"$TURNLOCK_DATABASE_URL"' : shellQuote(database)} --tenant ${tenantId}`
    : 'npm start -- --once --inspect';
  terminal.line(`To see such sessions on a page, state by state: ${bold(command)}`);
}
