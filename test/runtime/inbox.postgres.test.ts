import { onPostgres } from '../support/runtime-database.ts';
import { describeInbox } from './inbox-suite.ts';

onPostgres(describeInbox);
