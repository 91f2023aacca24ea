import { describeKilledRemembering, describeKilledSummaries } from './killed-cases.ts';

describeKilledRemembering([
  ['when the memory is written and not committed', 'afterStatement of memory', 0],
  ['when the commit is done and nobody was told', 'afterCommit of memory', 1],
]);

describeKilledSummaries([['while the model writes it', 'beforeEffect of summary', 0]]);
