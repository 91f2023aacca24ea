import { DBOS } from '@dbos-inc/dbos-sdk';
import { ended, mayGoOn, payBackOrFind, stopAt, task } from './peer-process.ts';
import { CENTS, MESSAGE } from './peer-task.ts';

/*
 * DBOS Transact for TypeScript: the agent's loop is a workflow, each model call and each tool call a step. A process that is started again
 * goes on with the workflows of its executor in `DBOS.launch()`.
 */

type Message = { role: 'user' | 'tool' | 'assistant'; text: string; calls?: { orderId: string; cents: number }[] };

/** A model without a provider: it asks for the refund, and once it has the tool's answer it says so. */
async function askModel(messages: Message[]): Promise<Message> {
  const last = messages.at(-1);
  if (last?.role !== 'tool') return { role: 'assistant', text: '', calls: [{ orderId: task.orderId, cents: CENTS }] };
  await stopAt('afterTheRecord');
  return { role: 'assistant', text: `Refunded: ${last.text}` };
}

async function converse(text: string): Promise<string> {
  const messages: Message[] = [{ role: 'user', text }];
  for (;;) {
    const answer = await DBOS.runStep(() => askModel(messages), { name: 'askModel' });
    messages.push(answer);
    if (answer.calls === undefined) return answer.text;
    for (const _ of answer.calls) {
      // Workflow and number of the step are the same when the step runs again.
      const refund = () => payBackOrFind(`${DBOS.workflowID}:${DBOS.stepID}`);
      messages.push({ role: 'tool', text: await DBOS.runStep(refund, { name: 'refund' }) });
    }
  }
}

const conversation = DBOS.registerWorkflow(converse, { name: 'conversation' });
DBOS.setConfig({
  name: 'refunds',
  applicationVersion: '0.1.0',
  systemDatabaseUrl: task.database,
  logLevel: 'error',
});
await mayGoOn();
await DBOS.launch();
if (task.does === 'set') await ended('set up');
const handle =
  task.does === 'resume'
    ? DBOS.retrieveWorkflow<string>(task.name)
    : await DBOS.startWorkflow(conversation, { workflowID: task.name })(MESSAGE);
await ended(await handle.getResult());
