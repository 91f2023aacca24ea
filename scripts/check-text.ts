import { findTextViolations } from './find-text-violations.ts';
import { reportViolations } from './report-violations.ts';
import { readSourceFiles } from './source-files.ts';

reportViolations('text', findTextViolations(readSourceFiles()));
