import { onPglite } from '../../support/runtime-database.ts';
import { describeBudget } from './budget-suite.ts';

onPglite(describeBudget);
