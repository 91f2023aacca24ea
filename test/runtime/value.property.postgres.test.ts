import { onPostgres } from '../support/runtime-database.ts';
import { describeValueProperties } from './value-property-suite.ts';

onPostgres(describeValueProperties);
