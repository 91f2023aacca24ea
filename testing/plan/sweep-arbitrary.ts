import fc from 'fast-check';
import type { FaultKind } from '../faults/fault-plan.ts';
import { JUMPS_MS } from './jumps.ts';
import { MEETINGS } from './meetings.ts';
import type { Command, FaultCommand, MessageCommand, Plan } from './plan.ts';
import { messageArbitrary, type PlanSpace } from './plan-arbitrary.ts';

/** What a simple schedule is made of. */
interface Parts {
  message: MessageCommand;
  /** The model asks for the same, of the same session or of another one. */
  same: MessageCommand;
  /** The same in the first session, and in another one of that tenant, where there is one. */
  first: MessageCommand;
  elsewhere: MessageCommand;
  /** What comes after the fault and the message. */
  end: Command[];
}

type Schedule = (parts: Parts) => Command[];

/** A tool comes to a place of its own, and to the points around it: with two places, the second one is after the act. */
const SINGLE: readonly Omit<FaultCommand, 'type'>[] = [
  { fault: 'crash', point: 'place', occurrence: 2 },
  { fault: 'stall', point: 'place', occurrence: 1, returnsLast: true },
  { fault: 'timeout', point: 'place', occurrence: 2 },
  { fault: 'stall', point: 'place', occurrence: 1 },
  { fault: 'crash', point: 'afterEffect', occurrence: 1 },
  { fault: 'stall', point: 'place', occurrence: 1, returnsEarly: true },
  { fault: 'disconnect', point: 'commitSent', occurrence: 3 },
  { fault: 'stall', point: 'place', occurrence: 2 },
  { fault: 'timeout', point: 'place', occurrence: 1 },
  { fault: 'stall', point: 'place', occurrence: 2, returnsLast: true },
  { fault: 'crash', point: 'place', occurrence: 1 },
  { fault: 'timeout', point: 'insideEffect', occurrence: 1 },
  { fault: 'crash', point: 'place', occurrence: 3 },
  { fault: 'stall', point: 'afterEffect', occurrence: 1 },
  { fault: 'disconnect', point: 'place', occurrence: 2 },
  { fault: 'crash', point: 'commitSent', occurrence: 3 },
  { fault: 'timeout', point: 'place', occurrence: 3 },
  { fault: 'stall', point: 'place', occurrence: 3 },
  { fault: 'crash', point: 'beforeCommit', occurrence: 3 },
  { fault: 'crash', point: 'place', occurrence: 4 },
];

/** Nothing goes wrong, and the same is asked for twice: at once, later, and as often as a model likes. */
const REPEATS: readonly Schedule[] = [
  ({ message, same }) => [{ ...message, isOvertaken: true }, same],
  ({ message, same, end }) => [message, same, ...end],
  ({ message, same, end }) => [message, ...end, same],
];

/** Nothing goes wrong, and clients meet a session at work. */
const MEETS: readonly Schedule[] = MEETINGS.map((meeting) => {
  return ({ message }) => meeting(message, message);
});

/** What is asked for elsewhere while a process stands still in a tool, after every lease and lock has run out. */
const MEANWHILE: readonly Schedule[] = [1, 2].map((occurrence) => {
  return ({ first, elsewhere }) => [
    { type: 'fault', fault: 'stall', point: 'place', occurrence, returnsLast: true },
    first,
    { type: 'jump', ms: JUMPS_MS.deadlines },
    elsewhere,
  ];
});

/** A process is killed after the act, and nobody looks for its work before the next day: what receivers remember for a day is forgotten. */
const NEXT_DAY: Schedule = ({ first }) => [
  { type: 'fault', fault: 'crash', point: 'place', occurrence: 2 },
  first,
  { type: 'jump', ms: JUMPS_MS.day },
];

/** So many schedules with a fault are taken between two without. */
const FAULTS_BETWEEN = 4;

/** The simple schedules, in the order in which runs take them: each single fault where a tool acts, what is asked for twice, and what clients do. */
export function simpleSchedules(faults: readonly FaultKind[]): Schedule[] {
  const single = SINGLE.filter(({ fault }) => faults.includes(fault));
  if (single.length === 0) return [...REPEATS, ...MEETS];
  const struck = single.flatMap((fault, place) => {
    const strikes: Schedule = ({ message, end }) => [
      { type: 'fault', ...fault },
      { ...message, insists: true },
      ...end,
    ];
    const repeats = REPEATS[Math.floor(place / FAULTS_BETWEEN) % REPEATS.length];
    return place % FAULTS_BETWEEN === 0 && repeats !== undefined ? [repeats, strikes] : [strikes];
  });
  return [
    ...struck,
    ...(faults.includes('stall') ? MEANWHILE : []),
    ...(faults.includes('crash') ? [NEXT_DAY] : []),
    ...MEETS,
  ];
}

/** What the model asks for in a simple schedule, by chance; which schedule it is follows from the number of the run, from 0 on. */
export function sweepArbitrary(space: PlanSpace): fc.Arbitrary<(run: number) => Plan> {
  const schedules = simpleSchedules(space.faults);
  const jump = fc.constantFrom(...Object.values(JUMPS_MS)).map((ms): Command => ({ type: 'jump', ms }));
  return fc
    .record({
      ids: fc.nat(2 ** 31 - 1),
      order: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2 ** 31 - 1 })),
      message: messageArbitrary(space),
      session: fc.integer({ min: 1, max: space.sessions }),
      jump,
      end: fc.nat(5),
    })
    .map(({ ids, order, message, session, jump: later, end }) => {
      const same = { ...message, session };
      const first = { ...message, session: 1 };
      const elsewhere = { ...message, session: space.tenants < space.sessions ? 1 + space.tenants : 1 };
      const ends: Command[][] = [
        [],
        [later],
        [later, same],
        [same],
        [{ type: 'decide', which: 1, does: 'approve' }],
        [],
      ];
      const parts: Parts = { message, same, first, elsewhere, end: ends[end] ?? [] };
      return (run) => ({ ids, order, commands: schedules[run % schedules.length]?.(parts) ?? [] });
    });
}
