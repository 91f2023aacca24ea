import manifest from '../package.json' with { type: 'json' };
import { entrySources } from './entry-sources.ts';
import { findImportViolations } from './find-import-violations.ts';
import { findImpurities } from './find-impurities.ts';
import { reportViolations } from './report-violations.ts';
import { readSourceFiles } from './source-files.ts';

const files = readSourceFiles();
reportViolations('imports', [...findImportViolations(files, entrySources(manifest)), ...findImpurities(files)]);
