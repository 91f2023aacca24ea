import { onPglite } from '../support/runtime-database.ts';
import { describeApprovals } from './approval-suite.ts';

onPglite(describeApprovals);
