import { join } from 'node:path';
import { pglite } from '../../../adapters/databases/pglite.ts';
import { describeOddValues } from './odd-values-suite.ts';

describeOddValues(async (folder) => ({ adapter: pglite(join(folder, 'data')), args: ['--database', 'data'] }));
