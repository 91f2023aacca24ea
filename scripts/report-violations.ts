/** Prints what a check found, one line each, and makes the process fail when there is something. */
export function reportViolations(check: string, violations: readonly string[]): void {
  for (const violation of violations) console.error(violation);
  console.log(`${check}: ${violations.length === 0 ? 'nothing found' : `${violations.length} found`}`);
  if (violations.length > 0) process.exitCode = 1;
}
