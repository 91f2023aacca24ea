// Adds up the reports of all vitest runs and the stages: <reports folder> <passed> <failed>.
// Plain JavaScript: it must run under the machine's own Node, also when the installation failed.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [, , folder, ...stages] = process.argv;
const [passed, failed] = stages.map(Number);
const total = { passed, failed, skipped: 0 };

for (const name of readdirSync(folder)) {
  const report = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  total.passed += report.numPassedTests;
  total.failed += report.numFailedTests;
  total.skipped += report.numPendingTests + report.numTodoTests;
}

console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
