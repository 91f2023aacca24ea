import { onPglite } from '../../support/runtime-database.ts';
import { describeCrashes } from './crash-suite.ts';

onPglite(describeCrashes(0.75));
