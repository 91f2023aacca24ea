import { onPostgres } from '../../support/runtime-database.ts';
import { describeChildren } from './children-suite.ts';

onPostgres(describeChildren);
