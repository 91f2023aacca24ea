import type fc from 'fast-check';
import type { Command, MessageCommand, Plan, PlannedCall } from './plan.ts';

/** Arbitraries of params, by tool: what they can shrink, is shrunk. */
type Calls = { readonly [toolName: string]: fc.Arbitrary<unknown> };

/** How many simpler plans are tried; most are found in far fewer. */
const MAX_TRIES = 120;

/** Simpler params that are tried of one call. */
const MAX_PARAMS = 3;

/**
 * The simplest plan that `fails` as `plan` does: first with fewer commands, then with simpler ones. Nothing can be taken out of what comes of
 * it, unless the tries were used up.
 */
export async function shrinkPlan(
  plan: Plan,
  calls: Calls,
  fails: (plan: Plan) => Promise<boolean>,
): Promise<{ plan: Plan; tries: number }> {
  let simplest = plan;
  let tries = 0;
  const tried = new Set([JSON.stringify(plan)]);
  const isBetter = async (candidate: Plan): Promise<boolean> => {
    const text = JSON.stringify(candidate);
    if (tries >= MAX_TRIES || tried.has(text)) return false;
    tried.add(text);
    tries += 1;
    if (!(await fails(candidate))) return false;
    simplest = candidate;
    return true;
  };
  for (let goesOn = true; goesOn && tries < MAX_TRIES; ) {
    goesOn = false;
    for (const candidates of [fewer, (one: Plan) => simpler(one, calls)]) {
      for (let found = true; found; ) {
        found = false;
        for (const candidate of candidates(simplest)) {
          if (!(await isBetter(candidate))) continue;
          found = true;
          goesOn = true;
          break;
        }
      }
    }
  }
  return { plan: simplest, tries };
}

/** The plan without some of its commands: halves first, then one at a time, the last ones first. */
function* fewer(plan: Plan): Generator<Plan> {
  const { commands } = plan;
  for (let size = Math.ceil(commands.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let end = commands.length; end > 0; end -= size) {
      const begin = Math.max(0, end - size);
      if (end - begin < commands.length) {
        yield { ...plan, commands: [...commands.slice(0, begin), ...commands.slice(end)] };
      }
    }
  }
}

function* simpler(plan: Plan, calls: Calls): Generator<Plan> {
  if (plan.order !== 0) yield { ...plan, order: 0 };
  for (const [place, command] of plan.commands.entries()) {
    for (const one of simplerCommand(command, calls)) yield { ...plan, commands: plan.commands.with(place, one) };
  }
}

function* simplerCommand(command: Command, calls: Calls): Generator<Command> {
  switch (command.type) {
    case 'message':
      yield* simplerMessage(command, calls);
      return;
    case 'fault': {
      const { returnsEarly, returnsLast, isBrief, ...plain } = command;
      if (returnsEarly || returnsLast) yield plain;
      if (command.fault === 'stall' || command.fault === 'disconnect') yield { ...plain, fault: 'crash' };
      for (const occurrence of smaller(command.occurrence)) yield { ...command, occurrence };
      return;
    }
    case 'decide': {
      const { how, ...plain } = command;
      if (how !== undefined) yield plain;
      for (const which of smaller(command.which)) yield { ...command, which };
      return;
    }
    case 'sendAgain':
      for (const message of smaller(command.message)) yield { ...command, message };
      return;
    case 'resume':
      for (const process of smaller(command.process)) yield { ...command, process };
      for (const session of smaller(command.session)) yield { ...command, session };
      return;
    case 'restart':
      for (const process of smaller(command.process)) yield { ...command, process };
      return;
    default:
      return;
  }
}

function* simplerMessage(command: MessageCommand, calls: Calls): Generator<MessageCommand> {
  for (const part of ['whenBusy', 'isBySql', 'isFinal', 'isOvertaken', 'insists'] as const) {
    const { [part]: given, ...rest } = command;
    if (given !== undefined) yield rest;
  }
  for (const process of smaller(command.process)) yield { ...command, process };
  for (const session of smaller(command.session)) yield { ...command, session };
  const { replies } = command;
  for (const place of replies.keys()) {
    if (replies.length > 1) yield { ...command, replies: replies.toSpliced(place, 1) };
  }
  for (const [place, reply] of replies.entries()) {
    for (const at of reply.keys()) {
      if (reply.length > 1) yield { ...command, replies: replies.with(place, reply.toSpliced(at, 1)) };
    }
    for (const [at, call] of reply.entries()) {
      for (const one of simplerCall(call, calls))
        yield { ...command, replies: replies.with(place, reply.with(at, one)) };
    }
  }
}

function* simplerCall(call: PlannedCall, calls: Calls): Generator<PlannedCall> {
  const { flaw, ...plain } = call;
  if (flaw !== undefined) yield plain;
  const arbitrary = calls[call.tool];
  if (arbitrary === undefined || !arbitrary.canShrinkWithoutContext(call.params)) return;
  let given = 0;
  for (const { value } of arbitrary.shrink(call.params, undefined)) {
    if (given >= MAX_PARAMS) return;
    given += 1;
    yield { ...call, params: value };
  }
}

/** Smaller whole numbers from 1 on: the smallest first. */
function smaller(value: number): number[] {
  return value <= 1 ? [] : [...new Set([1, Math.ceil(value / 2), value - 1])].filter((one) => one < value);
}
