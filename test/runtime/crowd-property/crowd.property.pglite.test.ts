import { onPglite } from '../../support/runtime-database.ts';
import { describeCrowds } from './crowd-suite.ts';

onPglite(describeCrowds(0.5));
