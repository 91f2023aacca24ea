import { onPostgres } from '../../support/runtime-database.ts';
import { describeCrashes } from './crash-suite.ts';

onPostgres(describeCrashes(0.5));
