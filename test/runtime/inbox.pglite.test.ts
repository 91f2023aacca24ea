import { onPglite } from '../support/runtime-database.ts';
import { describeInbox } from './inbox-suite.ts';

onPglite(describeInbox);
