import { onPglite } from '../support/runtime-database.ts';
import { describeValueProperties } from './value-property-suite.ts';

onPglite(describeValueProperties);
