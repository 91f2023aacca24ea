import { onPglite } from '../../support/runtime-database.ts';
import { describeTransactional } from './transactional-suite.ts';

onPglite(describeTransactional);
