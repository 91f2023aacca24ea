import { readFileSync } from 'node:fs';
import { findHosts, findLockViolations } from './find-lock-violations.ts';
import { reportViolations } from './report-violations.ts';

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
reportViolations('lock', [
  ...findLockViolations(read('package-lock.json')),
  ...findHosts('bench/peers/package-lock.json', read('bench/peers/package-lock.json')),
]);
