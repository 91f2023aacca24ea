import { onPglite } from '../../support/runtime-database.ts';
import { describeMemoryStore } from './store-suite.ts';

onPglite(describeMemoryStore);
