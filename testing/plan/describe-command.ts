import { inspect } from 'node:util';
import type { Command, PlannedCall } from './plan.ts';

const INLINE = { depth: 4, breakLength: Number.POSITIVE_INFINITY, compact: true } as const;

/** A command as one line for people. */
export function describeCommand(command: Command): string {
  switch (command.type) {
    case 'message': {
      const { session, process, replies, insists, isOvertaken, whenBusy, isBySql, isFinal } = command;
      return [
        `a message to session ${session}`,
        isBySql ? ' by SQL' : byProcess(process),
        whenBusy === undefined ? '' : ` (${whenBusy})`,
        `; the model asks for ${replies.map(describeReply).join(', then ')}`,
        insists ? ', and again where it fails' : '',
        isFinal ? '; its last reply ends the session' : '',
        isOvertaken ? '; meanwhile' : '',
      ].join('');
    }
    case 'fault': {
      const { fault, point, occurrence, returnsEarly, returnsLast, isBrief } = command;
      const where = point === 'place' ? 'a place of the tools' : point;
      const when = occurrence === 1 ? 'next' : ordinal(occurrence);
      const back = returnsEarly ? '; it comes back early' : returnsLast ? '; it comes back last' : '';
      const slow = isBrief ? ', until nobody else gets any further' : '';
      return `${FAULTS[fault]} the ${when} time that one comes to ${where}${back}${slow}`;
    }
    case 'decide': {
      const { which, does, how } = command;
      const rest =
        how === 'twice'
          ? ', and a second one says the same'
          : how === undefined
            ? ''
            : ', and a second one the opposite';
      return `a person decides about call ${which} of those that wait: ${does}${rest}`;
    }
    case 'sendAgain':
      return `the client sends ${command.message === 1 ? 'its last message' : `its message before the last ${command.message - 1}`} again`;
    case 'jump':
      return `${command.within === undefined ? '' : `after ${command.within} steps, in the middle of it, `}the clock jumps by ${describeMs(command.ms)}, and a process looks for work`;
    case 'linger':
      return 'the time of a heartbeat passes while tools are out';
    case 'resume':
      return `a client comes back to session ${command.session}${byProcess(command.process)}`;
    case 'cancel':
      return `the run of session ${command.session} is cancelled`;
    case 'restart':
      return `process ${command.process} of those alive is restarted`;
  }
}

function byProcess(process: number): string {
  return process === 1 ? '' : ` by process ${process} of those alive`;
}

const FAULTS = {
  crash: 'a process is killed',
  stall: 'a process stands still',
  disconnect: 'a process loses its connection',
  timeout: 'a process waits in vain',
} as const;

function describeReply(calls: readonly PlannedCall[]): string {
  return calls.map(describeCall).join(' and ');
}

function describeCall({ tool, params, flaw }: PlannedCall): string {
  const call = `${tool}(${inspect(params, INLINE)})`;
  if (flaw === 'noTool') return `${tool}_, which is no tool`;
  if (flaw === 'noJson') return `${call} in broken JSON`;
  return flaw === 'misfit' ? `${call} with params that do not fit` : call;
}

/** A span of time in its largest whole unit. */
export function describeMs(ms: number): string {
  const [size, unit] = UNITS.find(([one]) => ms >= one && ms % one === 0) ?? [1, 'ms'];
  return `${ms / size} ${unit}`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

function ordinal(place: number): string {
  const ends = place % 100 > 10 && place % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][place % 10] ?? 'th');
  return `${place}${ends}`;
}
