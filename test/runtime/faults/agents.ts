import { z } from 'zod';
import { scripted } from '../../../adapters/models/scripted.ts';
import {
  type Agent,
  defineAgent,
  defineTool,
  done,
  notDone,
  type ToolContext,
  type TransactionalContext,
} from '../../../index.ts';
import { EFFECTS, type Effect } from './places.ts';

/** What the agents work with. */
export interface Stage {
  /** The model has asked for the call. */
  noteAnswer(): void;
  /** The tool of a class acts for a cell, by the cell's name. */
  act(effect: Effect, cell: string, context: ToolContext): Promise<void>;
  /** Whether the tool of a cell has acted, as its receiver says. */
  hasActed(cell: string, context: ToolContext): boolean | Promise<boolean>;
}

/** What the tool of a cell returns. */
export function outputOf(cell: string): string {
  return `did ${cell}`;
}

/** One agent for each effect class, named after it, with one tool of that class. A message is the name of a cell. */
export function agentsOf(stage: Stage): Agent[] {
  return EFFECTS.map((effect) =>
    defineAgent({
      name: effect,
      instructions: 'Do it.',
      model: scripted(({ turns }) => {
        const last = turns.at(-1);
        if (last?.role !== 'user') return 'done';
        stage.noteAnswer();
        return { toolCalls: [{ toolName: `act-${effect}`, input: { cell: last.text } }] };
      }),
      tools: [toolOf(effect, stage)],
    }),
  );
}

function toolOf(effect: Effect, stage: Stage) {
  const inputSchema = z.object({ cell: z.string() });
  const outputSchema = z.string();
  const common = { name: `act-${effect}`, description: 'Acts.', inputSchema, outputSchema, timeoutMs: 60_000 };
  const execute = async ({ cell }: { cell: string }, context: ToolContext) => {
    await stage.act(effect, cell, context);
    return outputOf(cell);
  };
  if (effect === 'transactional') return defineTool({ ...common, effect, execute });
  if (effect !== 'reconcilable') return defineTool({ ...common, effect, execute });
  return defineTool({
    ...common,
    effect,
    execute,
    reconcile: async ({ cell }, context) => ((await stage.hasActed(cell, context)) ? done(outputOf(cell)) : notDone()),
  });
}

/** The table into which transactional tools write: the program's own. */
export const MAKE_SHOP = `CREATE SCHEMA shop; CREATE TABLE shop.acts (cell text NOT NULL, key text NOT NULL)`;

/** The act of a transactional tool. */
export async function writeAct(cell: string, context: ToolContext): Promise<void> {
  const { transaction, idempotencyKey } = context as TransactionalContext;
  await transaction.query('INSERT INTO shop.acts (cell, key) VALUES ($1, $2)', [cell, idempotencyKey]);
}
