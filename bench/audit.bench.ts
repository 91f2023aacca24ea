import { AUDIT_USAGE, type AuditOptions, readAuditOptions } from './audit-options.ts';
import { type AuditResult, auditViolationsOf, renderAuditReport } from './audit-report.ts';
import { openBenchDatabase } from './bench-database.ts';
import { describeMachine } from './machine.ts';
import { measureAudit } from './measure-audit.ts';

/* What an auditor's questions cost, and whether memory stays bounded. See docs/performance.md for what came of it. */

async function measure(options: AuditOptions): Promise<AuditResult> {
  const database = await openBenchDatabase(options.database);
  try {
    const machine = await describeMachine(database.owner);
    const costs = await measureAudit(database.owner, database.url, options);
    return { machine, options, ...costs, violations: auditViolationsOf(costs) };
  } finally {
    await database.drop();
  }
}

const options = readAuditOptions(process.argv.slice(2));
if (options === null) {
  process.stdout.write(AUDIT_USAGE);
} else {
  const result = await measure(options);
  process.stdout.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : renderAuditReport(result));
  process.exitCode = result.violations.length > 0 ? 1 : 0;
}
