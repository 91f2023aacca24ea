import { onPglite } from '../support/runtime-database.ts';
import { describeOverlaps } from './overlap-suite.ts';

onPglite(describeOverlaps);
