import { onPostgres } from '../support/runtime-database.ts';
import { describeOverlaps } from './overlap-suite.ts';

onPostgres(describeOverlaps);
