import { onPostgres } from '../../support/runtime-database.ts';
import { describeBudget } from './budget-suite.ts';

onPostgres(describeBudget);
