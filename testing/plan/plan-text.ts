import { z } from 'zod';
import { FAULT_POINTS } from '../../environment.ts';
import { TurnlockError } from '../../errors.ts';
import type { Command, Plan } from './plan.ts';

/** The form of the text; another one is refused. */
const FORM = 1;

const place = z.int().min(1);
const call = z.looseObject({ tool: z.string(), flaw: z.enum(['noTool', 'misfit', 'noJson']).optional() });

/** What each command must have, for a run not to break further in. */
const COMMANDS: { readonly [Type in Command['type']]: z.ZodType } = {
  message: z.looseObject({
    session: place,
    process: place,
    replies: z.array(z.array(call)),
    isBySql: z.boolean().optional(),
    isFinal: z.boolean().optional(),
  }),
  fault: z.looseObject({
    fault: z.enum(['crash', 'stall', 'disconnect', 'timeout']),
    point: z.enum([...FAULT_POINTS, 'place']),
    occurrence: place,
    isBrief: z.boolean().optional(),
  }),
  decide: z.looseObject({
    which: place,
    does: z.enum(['approve', 'deny']),
    how: z.enum(['twice', 'contradicted']).optional(),
  }),
  sendAgain: z.looseObject({ message: place }),
  jump: z.looseObject({ ms: z.int().min(0), within: z.int().min(0).optional() }),
  linger: z.looseObject({}),
  resume: z.looseObject({ session: place, process: place }),
  cancel: z.looseObject({ session: place }),
  restart: z.looseObject({ process: place }),
};

const PLAN = z.looseObject({
  form: z.literal(FORM),
  ids: z.int().min(0),
  order: z.int().min(0),
  commands: z.array(z.looseObject({ type: z.enum(Object.keys(COMMANDS) as [Command['type']]) })),
});

/** A plan as text, from which {@link readPlan} makes it again. */
export function writePlan({ ids, order, commands }: Plan): string {
  return JSON.stringify({ form: FORM, ids, order, commands });
}

/** @throws OPTIONS_INVALID for a text that {@link writePlan} did not write, or that asks for a tool which is none of `toolNames`: nothing would run. */
export function readPlan(text: string, toolNames: readonly string[]): Plan {
  const value = parse(text);
  check(PLAN, value, []);
  const { ids, order, commands } = value as Plan;
  for (const [at, command] of commands.entries()) check(COMMANDS[command.type], command, ['commands', at]);
  const asked = (commands as Command[]).flatMap((command) =>
    command.type === 'message' ? command.replies.flat() : [],
  );
  const unknown = asked.find(({ tool }) => !toolNames.includes(tool));
  if (unknown !== undefined) throw notCalled(unknown.tool, toolNames);
  return { ids, order, commands };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refused('no JSON');
  }
}

function check(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): void {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  if (issue !== undefined) throw refused(`at ${[...path, ...issue.path].join('.') || 'its top'}: ${issue.message}`);
}

function notCalled(found: string, toolNames: readonly string[]): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `replay not accepted: it asks for a tool that is none of \`calls\` (found ${JSON.stringify(found)}, wanted one of ${toolNames.join(', ')})`,
  });
}

function refused(found: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `replay not accepted: the text of a plan (found ${found}, wanted what a failure report says)`,
  });
}
