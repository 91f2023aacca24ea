import { onPostgres } from '../support/runtime-database.ts';
import { describeApprovals } from './approval-suite.ts';

onPostgres(describeApprovals);
