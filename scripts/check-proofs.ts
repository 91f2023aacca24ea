import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findUnproven, type TestReport } from './find-unproven.ts';
import { PROVEN_PAGES, readProofs } from './read-proofs.ts';
import { reportViolations } from './report-violations.ts';
import { readTestSources } from './test-titles.ts';

/*
 * Compares the pages that name proofs with the reports of a whole run: `check-proofs.ts <folder>`. Fails where a proof is absent, did not run or did not
 * pass: a promise counts only once its test has shown it.
 */

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('found no folder of reports, wanted the one into which vitest wrote them');
const reports = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as TestReport);
const proofs = PROVEN_PAGES.flatMap((page) => readProofs(readFileSync(page, 'utf8')));
reportViolations('proofs', findUnproven(proofs, reports, { sources: readTestSources(), folder: process.cwd() }));
