import { onPglite } from '../../support/runtime-database.ts';
import { describeRecall } from './recall-suite.ts';

onPglite(describeRecall);
