import { onPglite } from '../../support/runtime-database.ts';
import { describeMemory } from './memory-suite.ts';

onPglite(describeMemory);
