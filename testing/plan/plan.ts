import type { WhenBusy } from '../../persistence/inbox.ts';
import type { FaultKind, Passage } from '../faults/fault-plan.ts';

/** One call that the model asks for. */
export interface PlannedCall {
  tool: string;
  params: unknown;
  /** What is wrong with it: there is no such tool; the params fit no schema; the arguments are no JSON. */
  flaw?: 'noTool' | 'misfit' | 'noJson';
}

/** A user writes. */
export interface MessageCommand {
  type: 'message';
  /** Number of the session, from 1 on. */
  session: number;
  /** Which of the living processes takes it: 1 is the oldest. Beyond the last one a further one is started. */
  process: number;
  /** What the model answers, one reply after the other; the last one, without calls, is implied. */
  replies: PlannedCall[][];
  /** Whether the model asks for the same once more where it hears that a call failed, or that nobody knows. */
  insists?: boolean;
  /** Whether the next command comes while this one is still at work: what both do is then mixed. */
  isOvertaken?: boolean;
  /** As of `send`. */
  whenBusy?: Exclude<WhenBusy, 'enqueue' | 'reject'>;
  /** Whether it comes by `turnlock.enqueue`, past every process. */
  isBySql?: boolean;
  /** Whether the model's last reply to it is the agent's output: then the session is over. */
  isFinal?: boolean;
}

/** Something goes wrong, once, in whichever process comes there first. */
export interface FaultCommand {
  type: 'fault';
  fault: FaultKind;
  /** `place`: a place of the tools' own. */
  point: Passage['point'];
  /** Which of the passages from now on, from 1 on. */
  occurrence: number;
  /** Of a stall: whether the process comes back before the others have gone on without it. */
  returnsEarly?: boolean;
  /** Of a stall: whether it comes back only after the others have gone on without it, and people have decided what was left open. */
  returnsLast?: boolean;
  /** Of a stall on a server: whether only this one step is slow, also inside a transaction. It goes on once nobody else gets any further. */
  isBrief?: boolean;
}

/** What operators do about one of the calls that wait. */
export interface DecideCommand {
  type: 'decide';
  /** Which of the calls that wait, from 1 on; beyond the last one it counts on from the first. */
  which: number;
  /** Of an unknown outcome both say what is true. */
  does: 'approve' | 'deny';
  /** `twice`: a second person says the same. `contradicted`: a second person says the opposite, at the same time. */
  how?: 'twice' | 'contradicted';
}

/** One step of a run. */
export type Command =
  | MessageCommand
  | FaultCommand
  | DecideCommand
  /** The client sends a message a second time, with the same id. `message`: how many messages ago, from 1 on. */
  | { type: 'sendAgain'; message: number }
  /** The clock jumps, and whoever lives looks for work that nobody is at. `within`: in the middle of what goes on, after so many steps of it. */
  | { type: 'jump'; ms: number; within?: number }
  /** As long as a heartbeat takes passes, and whatever waits at a place stays there. */
  | { type: 'linger' }
  /** A client that lost its connection asks for the session's run, in one of the living processes. */
  | { type: 'resume'; session: number; process: number }
  | { type: 'cancel'; session: number }
  /** A process is closed as in a deployment, and another one takes its place. */
  | { type: 'restart'; process: number };

/** A run from its begin to its end: the same plan gives the same run, where the database is the kit's PGlite. */
export interface Plan {
  /** Seed of ids. */
  ids: number;
  /** In which order what could go on at the same time goes on: 0 means in the order of arrival, else a seed of choices. */
  order: number;
  commands: Command[];
}
