import { onPostgres } from '../../support/runtime-database.ts';
import { describeMemory } from './memory-suite.ts';

onPostgres(describeMemory);
