import { TurnlockError } from '../errors.ts';
import { checkOptions } from '../runtime/check-options.ts';
import type { PolicyCheck } from './check-policy.ts';
import type { ToolPolicyCheck } from './check-tool-policy.ts';
import { isPlayedOn } from './database/lend-database.ts';
import type { FaultKind } from './faults/fault-plan.ts';

/** All that goes wrong. */
export const FAULTS: readonly FaultKind[] = ['crash', 'stall', 'disconnect', 'timeout'];

type Refuse = (option: string, wanted: string) => TurnlockError;

/** @throws OPTIONS_INVALID for options of `checkToolPolicy` that would only break further in, or be ignored in silence. */
export function checkToolPolicyShape<World>(check: ToolPolicyCheck<World>): void {
  const refuse = refuseIn('checkToolPolicy');
  checkCommon(check, refuse);
  checkPlaces(check, refuse);
  const { tools, calls, policy, people, faults, everyStep, endOnFailure, replay } = check;
  if (typeof tools !== 'function') throw refuse('tools', 'a function that makes the tools of a process');
  if (typeof calls !== 'object' || calls === null || Object.keys(calls).length === 0) {
    throw refuse('calls', 'arbitraries of params, by the names of the tools');
  }
  for (const [name, params] of Object.entries(calls)) {
    if (!isArbitrary(params)) throw refuse(`calls.${name}`, 'an arbitrary of fast-check');
  }
  if (policy !== undefined && typeof policy !== 'function') throw refuse('policy', 'a function');
  if (people !== undefined) {
    const { settle } = checkOptions(people, 'people of checkToolPolicy', ['settle']);
    if (settle !== undefined && typeof settle !== 'function') throw refuse('people.settle', 'a function');
  }
  if (faults !== undefined && !(Array.isArray(faults) && faults.every((fault) => FAULTS.includes(fault)))) {
    throw refuse('faults', `some of ${FAULTS.join(', ')}`);
  }
  if (everyStep !== undefined && typeof everyStep !== 'boolean') throw refuse('everyStep', 'true or false');
  if (endOnFailure !== undefined && typeof endOnFailure !== 'boolean') throw refuse('endOnFailure', 'true or false');
  if (replay !== undefined && typeof replay !== 'string') throw refuse('replay', 'what a failure report says');
}

/** @throws OPTIONS_INVALID for options of `checkPolicy` that would only break further in. */
export function checkPolicyShape<Params, World>(check: PolicyCheck<Params, World>): void {
  const refuse = refuseIn('checkPolicy');
  checkCommon(check, refuse);
  for (const name of ['policy', 'apply'] as const) {
    if (typeof check[name] !== 'function') throw refuse(name, 'a function');
  }
  if (!isArbitrary(check.params)) throw refuse('params', 'an arbitrary of fast-check');
}

/** What both take. */
function checkCommon(
  {
    world,
    invariants,
    numRuns,
    seed,
  }: Pick<ToolPolicyCheck<unknown>, 'world' | 'numRuns' | 'seed'> & { invariants: object },
  refuse: Refuse,
): void {
  if (typeof world !== 'function') throw refuse('world', 'a function that makes the world');
  if (typeof invariants !== 'object' || invariants === null || Array.isArray(invariants)) {
    throw refuse('invariants', 'functions, by their names in words');
  }
  for (const [name, holds] of Object.entries(invariants)) {
    if (typeof holds !== 'function') throw refuse(`invariants: ${JSON.stringify(name)}`, 'a function');
  }
  if (numRuns !== undefined && !isCount(numRuns)) throw refuse('numRuns', 'a whole number from 1 on');
  if (seed !== undefined && !Number.isSafeInteger(seed)) throw refuse('seed', 'a whole number');
}

/** Whose sessions it plays, where, and where it keeps what is left. */
function checkPlaces<World>(
  { sessions, keepIn, database = 'pglite', prepare }: ToolPolicyCheck<World>,
  refuse: Refuse,
): void {
  if (sessions !== undefined) {
    const names = ['tenants', 'users', 'sessions'] as const;
    const given = checkOptions(sessions, 'sessions of checkToolPolicy', names);
    for (const name of names) {
      if (given[name] !== undefined && !isCount(given[name]))
        throw refuse(`sessions.${name}`, 'a whole number from 1 on');
    }
  }
  if (keepIn !== undefined && (typeof keepIn !== 'string' || keepIn === '')) throw refuse('keepIn', 'a folder');
  if (keepIn !== undefined && database !== 'pglite') throw refuse('keepIn', "database: 'pglite' with it");
  if (!isPlayedOn(database)) throw refuse('database', "'pglite' or { url }");
  if (prepare !== undefined && typeof prepare !== 'function') throw refuse('prepare', 'a function that makes tables');
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function isArbitrary(value: unknown): boolean {
  return typeof (value as { generate?: unknown } | null | undefined)?.generate === 'function';
}

/** Says of an option that it is not accepted, and what is wanted in its place. */
function refuseIn(call: string): Refuse {
  return (option, wanted) =>
    new TurnlockError('OPTIONS_INVALID', { message: `option not accepted: ${option} of ${call} (wanted ${wanted})` });
}
