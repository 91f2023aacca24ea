import { postgres } from '../../../adapters/databases/postgres.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { describeOddValues } from './odd-values-suite.ts';

describeOddValues(async () => {
  const { url } = await freshDatabase();
  return { adapter: postgres(url), args: ['--database', url] };
});
