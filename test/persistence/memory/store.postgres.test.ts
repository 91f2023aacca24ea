import { onPostgres } from '../../support/runtime-database.ts';
import { describeMemoryStore } from './store-suite.ts';

onPostgres(describeMemoryStore);
