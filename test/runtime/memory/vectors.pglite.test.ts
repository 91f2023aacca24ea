import { onPgliteWithVector } from '../../support/runtime-database.ts';
import { describeVectors } from './vector-suite.ts';

onPgliteWithVector(describeVectors);
