import { Command, InvalidArgumentError, Option } from 'commander';
import type { BudgetOptions, FreezeOptions } from './run-controls.ts';
import { optionsOf } from './shared-options.ts';

/** Millionths of one unit of money. */
const MICRO = 1_000_000;

/** The largest amount that is counted exactly. */
const MAX_AMOUNT = Number.MAX_SAFE_INTEGER;

/** `turnlock freeze`. */
export function freezeCommand(): Command {
  return scoped(new Command('freeze'))
    .description('let no call of a tool begin without a person')
    .option('--reason <reason>', 'why; whoever is asked reads it')
    .addHelpText(
      'after',
      examples('freeze --tool refund --reason "the bank is down"', 'freeze --all-tools --tenant acme'),
    )
    .action(async (_options, command: Command) => {
      const { runFreeze } = await import('./run-controls.ts');
      await runFreeze(optionsOf<FreezeOptions>(command));
    });
}

/** `turnlock unfreeze`. */
export function unfreezeCommand(): Command {
  return scoped(new Command('unfreeze'))
    .description('end a freeze of the same tool and tenant')
    .addHelpText('after', examples('unfreeze --tool refund', 'unfreeze --all-tools --tenant acme'))
    .action(async (_options, command: Command) => {
      const { runUnfreeze } = await import('./run-controls.ts');
      await runUnfreeze(optionsOf<FreezeOptions>(command));
    });
}

/** `turnlock budget`. */
export function budgetCommand(): Command {
  const names = ['calls', 'tokens', 'money'];
  const amount = (name: string, what: string, factor: number) =>
    new Option(`--${name} <amount>`, what)
      .argParser(parseAmount(factor))
      .conflicts(names.filter((one) => one !== name));
  return scoped(new Command('budget'))
    .description('set what a tenant may use from midnight to midnight UTC; what is beyond it waits for a person')
    .addOption(amount('calls', 'calls that begin, or `none` to end the budget', 1))
    .addOption(amount('tokens', 'tokens of the models, or `none`', 1))
    .addOption(amount('money', 'what the tools say that their calls cost, such as 99.50, or `none`', MICRO))
    .option('--reason <reason>', 'why; whoever is asked reads it')
    .addHelpText(
      'after',
      examples('budget --tool refund --money 500 --tenant acme', 'budget --all-tools --tokens 2000000'),
    )
    .action(async (_options, command: Command) => {
      const { runBudget } = await import('./run-controls.ts');
      await runBudget(optionsOf<BudgetOptions>(command));
    });
}

/** `turnlock controls`. */
export function controlsCommand(): Command {
  return new Command('controls')
    .description('list what is frozen and what is budgeted')
    .addHelpText('after', examples('controls', 'controls --json'))
    .action(async (_options, command: Command) => {
      const { runControls } = await import('./run-controls.ts');
      await runControls(optionsOf(command));
    });
}

function scoped(command: Command): Command {
  return command
    .addOption(new Option('--tool <tool>', 'of this tool').conflicts('allTools'))
    .option('--all-tools', 'of every tool')
    .option('--tenant <tenant>', 'of this tenant (default: of each)');
}

function parseAmount(factor: number) {
  return (text: string): number | 'none' => {
    if (text === 'none') return text;
    const amount = Math.round(Number(text) * factor);
    const isWhole = factor === 1 ? /^\d+$/.test(text) : /^\d+(\.\d{1,6})?$/.test(text);
    if (isWhole && amount <= MAX_AMOUNT) return amount;
    const wanted = factor === 1 ? 'a whole number' : 'an amount with at most 6 decimals';
    throw new InvalidArgumentError(`Wanted ${wanted} from 0 on, or none.`);
  };
}

function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ turnlock ${line}\n`).join('')}`;
}
