import { onPostgres } from '../../support/runtime-database.ts';
import { describeTransactional } from './transactional-suite.ts';

onPostgres(describeTransactional);
