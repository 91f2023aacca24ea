import { Command } from 'commander';
import type { SettleOptions } from './settle-options.ts';
import { optionsOf } from './shared-options.ts';

const EXAMPLES = `
Examples:
  $ turnlock settle EXECUTION --session SESSION --tenant acme --succeeded '{"refundId":"r-1"}' --by ana
  $ turnlock settle EXECUTION --session SESSION --tenant acme --failed 'the bank refused it' --by ana
  $ turnlock settle EXECUTION --session SESSION --tenant acme --run-again --by ana
`;

/** `turnlock settle`. */
export function settleCommand(): Command {
  return new Command('settle')
    .description('say how a call ended that waits for a person; its session goes on from there')
    .argument('<execution>', 'id of the execution; `turnlock show` prints it')
    .requiredOption('--session <session>', 'id of its session')
    .option('--tenant <tenant>', 'whose it is; looked up where it is left out, which the database records')
    .option('--succeeded [json]', 'it happened; what the tool would have returned (default: null)')
    .option('--failed <reason>', 'it did not happen; the model is told why')
    .option('--run-again', 'run it again with the same idempotency key')
    .option(
      '--approval <approval>',
      'id of the question that you answer: where another one is asked by now, nothing is settled',
    )
    .option('--role <role...>', 'a role of yours that the policy may ask for; may be given several times')
    .requiredOption('--by <who>', 'who says so, for the audit')
    .addHelpText('after', EXAMPLES)
    .action(async (execution: string, _options, command: Command) => {
      const { runSettle } = await import('./run-settle.ts');
      await runSettle(execution, optionsOf<SettleOptions>(command));
    });
}
