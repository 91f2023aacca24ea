import type { Reporter, TestModule } from 'vitest/node';

/** Makes the run fail in CI when a test was skipped: what does not run there proves nothing. */
export default class NoSkips implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    if (!process.env.CI || process.argv.some((word) => word === '-t' || word.startsWith('--testNamePattern'))) return;
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    if (skipped.length === 0) return;
    console.error(`skipped in CI: ${skipped.map((test) => test.fullName).join(', ')}`);
    process.exitCode = 1;
  }
}
