import { describeKilledRemembering, describeKilledSummaries } from './killed-cases.ts';

describeKilledRemembering([['when its COMMIT is to be sent', 'beforeCommit of memory', 0]]);

describeKilledSummaries([
  ['when the model has answered', 'afterEffect of summary', 0],
  ['when it is written and not committed', 'afterStatement of memory', 0],
  ['when it is committed and its task is not ended', 'afterCommit of memory', 1],
]);
