import { Command } from 'commander';
import type { ApproveCommandOptions, DenyCommandOptions } from './run-decide.ts';
import { optionsOf } from './shared-options.ts';

const APPROVE = `
Examples:
  $ turnlock approve EXECUTION --session SESSION --tenant acme --digest DIGEST --by ana
  $ turnlock approve EXECUTION --session SESSION --tenant acme --params '{"orderId":42,"cents":100}' --by ana --role manager
`;

const DENY = `
Examples:
  $ turnlock deny EXECUTION --session SESSION --tenant acme --reason 'the order is too old' --by ana
`;

/** `turnlock approve`. */
export function approveCommand(): Command {
  return deciding('approve', 'let a call run that waits for approval; its session goes on from there')
    .option('--params <json>', 'params in place of those that the model gave')
    .addHelpText('after', APPROVE)
    .action(async (execution: string, _options, command: Command) => {
      const { runApprove } = await import('./run-decide.ts');
      await runApprove(execution, optionsOf<ApproveCommandOptions>(command));
    });
}

/** `turnlock deny`. */
export function denyCommand(): Command {
  return deciding('deny', 'refuse a call that waits for approval; its session goes on from there')
    .requiredOption('--reason <reason>', 'why; the model is told')
    .addHelpText('after', DENY)
    .action(async (execution: string, _options, command: Command) => {
      const { runDeny } = await import('./run-decide.ts');
      await runDeny(execution, optionsOf<DenyCommandOptions>(command));
    });
}

function deciding(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('<execution>', 'id of the execution; `turnlock awaiting` prints it')
    .requiredOption('--session <session>', 'id of its session')
    .option('--tenant <tenant>', 'whose it is; looked up where it is left out, which the database records')
    .option('--digest <digest>', 'digest of the params that you saw: with others by now, the decision is refused')
    .option(
      '--approval <approval>',
      'id of the question that you answer: where another one is asked by now, the decision is refused',
    )
    .option('--role <role...>', 'a role of yours that the policy may ask for; may be given several times')
    .requiredOption('--by <who>', 'who decides, for the audit');
}
