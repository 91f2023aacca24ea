import { exportAudit, readAuditBegin } from '../../../persistence/audit/export-audit.ts';
import type { SessionKey } from '../../../persistence/read-session.ts';
import type { Store } from '../../../persistence/session-transaction.ts';
import type { Terminal } from '../terminal.ts';
import { auditText } from './audit-text.ts';

/**
 * Prints the audit of a session while it is read, page by page. As JSON: a line for what the session began with, then one a transition, with
 * everything that its hash and its digest are made from.
 */
export async function printAudit(store: Store, key: SessionKey, terminal: Terminal): Promise<void> {
  const begin = await readAuditBegin(store, key);
  terminal.json({ record: 'session', ...begin });
  if (begin.version === 0) terminal.note('No transitions.');
  for await (const row of exportAudit(store, key, begin.version)) {
    if (terminal.isJson) terminal.json({ record: 'transition', ...row });
    else for (const line of auditText(row, terminal.colours)) terminal.line(line);
  }
}
