import { onPostgres } from '../../support/runtime-database.ts';
import { describeVectors } from './vector-suite.ts';

onPostgres(describeVectors);
