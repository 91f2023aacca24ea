import type { PolicyVerdict } from '../adapters/tools/policy.ts';
import type { Tool } from '../adapters/tools/tool.contract.ts';
import type { ExecutionStatus } from '../machines/execution-status.ts';

/** What a tool under test is given by the kit, once for each process that the kit starts. What a tool keeps in memory dies with its process. */
export interface ProcessUnderTest {
  /** 1, 2, …: a process that was lost is followed by one with a number of its own. Several may be alive at once. */
  readonly number: number;
  /** The kit's clock in milliseconds since 1970: it jumps when the kit says so. The only clock that a tool under test may read. */
  now(): number;
  /**
   * A place of your own inside the tool where the kit may crash the process, stall it (it goes on much later, as a zombie), or have the call
   * lose its answer: `await at('before the bank')`, `await at('after the bank')`. Where nothing is to happen it resolves; whatever else goes on
   * at the same time may go on first.
   *
   * @throws ToolError with `outcome: 'unknown'` where the request timed out, or its connection broke: what a careful client throws then.
   */
  at(place: string): Promise<void>;
}

/** One execution, as it is committed. */
export interface SeenExecution {
  tenantId: string;
  userId: string;
  sessionId: string;
  executionId: string;
  /** The key with which the outside world was asked. */
  idempotencyKey: string;
  toolName: string;
  params: unknown;
  /** `PENDING`, `RUNNING`, `SUCCESS`, `FAILED` or `TIMED_OUT`. */
  status: ExecutionStatus;
  /** Whether it was started and nobody knows how it ended. */
  isUnknown: boolean;
  output: unknown;
  /** Who approved it; `null`: nobody did. */
  approvedBy: string | null;
  /** Who settled it: a person, or `reconcile`; `null`: its own result did. */
  settledBy: string | null;
  /**
   * The execution with the same `once` key whose result it was given: it never ran, so the outside world does not know its key. `null`: none.
   */
  answeredBy: string | null;
  /** Why it failed: a code of docs/errors.md, or one of its tool's own; `null`: it has not failed. */
  errorCode: string | null;
}

/** What an invariant looks at. */
export interface Seen<World> {
  readonly world: World;
  /** Every execution of every session, in the order in which they were asked for. */
  readonly executions: readonly SeenExecution[];
}

/** What must hold, by its name in words. Return nothing or `true` where it holds; return `false` or a sentence, or throw, where it does not. Nothing else is accepted, no promise either. */
export type Invariants<Of> = { readonly [inWords: string]: (seen: Of) => Says };

// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is one of them
type Says = boolean | string | void;

/** A call of which nobody knows whether it took effect, as it is shown to who settles it. */
export interface UnknownCall {
  toolName: string;
  params: unknown;
  idempotencyKey: string;
}

/** What whoever looked at the world says of it. */
export type Truth = { outcome: 'succeeded'; output: unknown } | { outcome: 'failed' };

/** What is tested: tools, the world in which they act, and people. */
export interface Subject<World> {
  world: () => World;
  tools: (world: World, process: ProcessUnderTest) => readonly Tool[];
  policy?: ((params: unknown, context: PolicyFacts) => PolicyVerdict | Promise<PolicyVerdict>) | undefined;
  people?: { settle?: ((world: World, call: UnknownCall) => Truth | Promise<Truth>) | undefined } | undefined;
  tenants: number;
  users: number;
}

/** Whose call a policy above those of the tools judges. */
export interface PolicyFacts {
  toolName: string;
  tenantId: string;
  userId: string;
}
