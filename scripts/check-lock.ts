import { readFileSync } from 'node:fs';
import { findLockViolations } from './find-lock-violations.ts';
import { reportViolations } from './report-violations.ts';

reportViolations('lock', findLockViolations(JSON.parse(readFileSync('package-lock.json', 'utf8'))));
