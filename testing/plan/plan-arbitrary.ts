import fc from 'fast-check';
import { TurnlockError } from '../../errors.ts';
import { kindOf } from '../../persistence/values/kind-of.ts';
import type { FaultKind } from '../faults/fault-plan.ts';
import { JUMPS_MS } from './jumps.ts';
import { MEETINGS } from './meetings.ts';
import type { Command, DecideCommand, FaultCommand, MessageCommand, Plan, PlannedCall } from './plan.ts';

/** What plans are made of. */
export interface PlanSpace {
  /** Params that the model may give, by tool. */
  calls: { readonly [toolName: string]: fc.Arbitrary<unknown> };
  sessions: number;
  /** Sessions are given to them in turn. */
  tenants: number;
  faults: readonly FaultKind[];
}

/** How many blocks of commands a plan has, and how likely that is: most of what is wrong shows in few. */
const BLOCKS = [
  { length: 1, weight: 7 },
  { length: 2, weight: 4 },
  { length: 3, weight: 2 },
  { length: 5, weight: 1 },
];

/** Plans in which the interesting is likely: few sessions, equal calls, faults where tools act. */
export function planArbitrary(space: PlanSpace): fc.Arbitrary<Plan> {
  const message = messageArbitrary(space);
  const overtaken = message.map((command) => ({ ...command, isOvertaken: true }));
  const jump = fc.constantFrom(...Object.values(JUMPS_MS)).map((ms): Command => ({ type: 'jump', ms }));
  const session = fc.integer({ min: 1, max: space.sessions });
  const decide = decideArbitrary();
  const again = fc.integer({ min: 1, max: 2 }).map((message): Command => ({ type: 'sendAgain', message }));
  const blocks: { weight: number; arbitrary: fc.Arbitrary<Command[]> }[] = [
    { weight: 5, arbitrary: fc.tuple(message) },
    { weight: 4, arbitrary: fc.tuple(overtaken, message) },
    { weight: 1, arbitrary: fc.tuple(overtaken, overtaken, message) },
    { weight: 2, arbitrary: fc.tuple(jump) },
    { weight: 4, arbitrary: fc.tuple(decide) },
    { weight: 2, arbitrary: fc.tuple(message, decide) },
    { weight: 1, arbitrary: fc.tuple(message, decide, message) },
    { weight: 1, arbitrary: fc.tuple(again) },
    { weight: 1, arbitrary: fc.tuple(session.map((session): Command => ({ type: 'cancel', session }))) },
    { weight: 1, arbitrary: fc.constant([{ type: 'restart', process: 1 }]) },
    { weight: 5, arbitrary: fc.tuple(fc.constantFrom(...MEETINGS), message, message).map(meet) },
  ];
  if (space.faults.length > 0) {
    const fault = faultArbitrary(space.faults);
    blocks.push(
      { weight: 6, arbitrary: fc.tuple(fault, message) },
      { weight: 2, arbitrary: fc.tuple(fault, overtaken, message) },
      { weight: 3, arbitrary: fc.tuple(fault, message, jump) },
      { weight: 2, arbitrary: fc.tuple(fault, message, jump, message) },
      { weight: 2, arbitrary: fc.tuple(message, fault, decide) },
    );
  }
  const lists = BLOCKS.map(({ length, weight }) => ({
    weight,
    arbitrary: fc.array(fc.oneof(...blocks), { minLength: length, maxLength: length }),
  }));
  return fc.record(
    {
      ids: fc.nat(2 ** 31 - 1),
      order: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2 ** 31 - 1 })),
      commands: fc.oneof(...lists).map((all) => all.flat()),
    },
    { noNullPrototype: true },
  );
}

function meet([meeting, first, second]: [(typeof MEETINGS)[number], MessageCommand, MessageCommand]): Command[] {
  return meeting(first, { ...second, session: first.session });
}

/** A message of a user, with what the model asks for then. */
export function messageArbitrary({ calls, sessions }: PlanSpace): fc.Arbitrary<MessageCommand> {
  const call = callArbitrary(calls);
  const reply = fc.oneof(
    { weight: 10, arbitrary: fc.tuple(call) },
    { weight: 2, arbitrary: fc.array(call, { minLength: 2, maxLength: 3 }) },
    { weight: 1, arbitrary: call.map((one) => [one, one]) },
  );
  const replies = fc.oneof(
    { weight: 8, arbitrary: fc.tuple(reply) },
    { weight: 1, arbitrary: fc.tuple(reply, reply) },
    { weight: 1, arbitrary: reply.map((one) => [one, one]) },
  ) as fc.Arbitrary<PlannedCall[][]>;
  return fc
    .record({
      session: fc.integer({ min: 1, max: sessions }),
      process: fc.constantFrom(1, 1, 1, 2),
      replies,
      insists: fc.constantFrom(true, false),
      whenBusy: fc.constantFrom<MessageCommand['whenBusy'][]>(
        ...Array<undefined>(8).fill(undefined),
        'interrupt',
        'supersede',
      ),
    })
    .map(({ insists, whenBusy, ...command }) => ({
      type: 'message',
      ...command,
      ...(insists ? { insists } : {}),
      ...(whenBusy === undefined ? {} : { whenBusy }),
    }));
}

function callArbitrary(calls: PlanSpace['calls']): fc.Arbitrary<PlannedCall> {
  const sound = fc.oneof(
    ...Object.entries(calls).map(([tool, params]) =>
      params.map((value): PlannedCall => ({ tool, params: asJson(tool, value) })),
    ),
  );
  const flaw = fc.constantFrom<NonNullable<PlannedCall['flaw']>[]>('noTool', 'misfit', 'noJson');
  return fc.oneof(
    { weight: 14, arbitrary: sound },
    { weight: 1, arbitrary: fc.tuple(sound, flaw).map(([call, one]) => ({ ...call, flaw: one })) },
  );
}

/**
 * Params as they come out of a model's answer, and of the text of a plan.
 *
 * @throws OPTIONS_INVALID for what no JSON can hold.
 */
function asJson(tool: string, value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value ?? null));
  } catch {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `option not accepted: calls.${tool} of checkToolPolicy (found ${kindOf(value)} that it cannot, wanted params that JSON can hold)`,
    });
  }
}

/** Points at which a fault of a kind can strike a process of the real world. */
const MAY_STRIKE: Record<FaultKind, RegExp> = {
  crash: /./,
  /** Outside of transactions: a connection that is silent for too long is ended by its server. */
  stall: /^(place|beforeEffect|insideEffect|afterEffect|beforeEvidence|beforeHeartbeat)$/,
  disconnect: /^(place|beforeBegin|afterLock|afterStatement|beforeCommit|commitSent|afterCommit)$/,
  timeout: /^(place|insideEffect|afterLock|afterStatement|beforeCommit)$/,
};

/** How likely the points are, and up to which of their passages: those around the tools are where tools are wrong. */
const POINTS: readonly { point: FaultCommand['point']; weight: number; most: number }[] = [
  { point: 'place', weight: 8, most: 4 },
  { point: 'afterEffect', weight: 5, most: 4 },
  { point: 'insideEffect', weight: 2, most: 4 },
  { point: 'beforeEffect', weight: 1, most: 4 },
  { point: 'beforeCommit', weight: 2, most: 8 },
  { point: 'commitSent', weight: 2, most: 8 },
  { point: 'afterCommit', weight: 1, most: 8 },
  { point: 'afterStatement', weight: 1, most: 40 },
  { point: 'afterLock', weight: 1, most: 8 },
  { point: 'beforeBegin', weight: 1, most: 12 },
  { point: 'beforeEvidence', weight: 1, most: 1 },
  { point: 'beforeHeartbeat', weight: 1, most: 1 },
];

function faultArbitrary(faults: readonly FaultKind[]): fc.Arbitrary<FaultCommand> {
  const points = POINTS.flatMap(({ point, weight, most }) => {
    const kinds = faults.filter((fault) => MAY_STRIKE[fault].test(point));
    if (kinds.length === 0) return [];
    const returns = fc.constantFrom({ returnsEarly: true }, {}, { returnsLast: true });
    const arbitrary = fc.tuple(fc.constantFrom(...kinds), fc.integer({ min: 1, max: most }), returns).map(
      ([fault, occurrence, when]): FaultCommand => ({
        type: 'fault',
        fault,
        point,
        occurrence,
        ...(fault === 'stall' ? when : {}),
      }),
    );
    return [{ weight, arbitrary }];
  });
  return fc.oneof(...points);
}

function decideArbitrary(): fc.Arbitrary<DecideCommand> {
  return fc
    .record({
      which: fc.integer({ min: 1, max: 3 }),
      does: fc.constantFrom<DecideCommand['does'][]>('approve', 'approve', 'deny'),
      how: fc.constantFrom<DecideCommand['how'][]>(undefined, undefined, 'twice', 'contradicted'),
    })
    .map(({ how, ...command }) => ({ type: 'decide', ...command, ...(how === undefined ? {} : { how }) }));
}
