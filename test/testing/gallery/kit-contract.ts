import type * as fc from 'fast-check';
import type { Tool, PolicyVerdict as Verdict } from '../../../index.ts';

/*
 * The contract of the kit as its users see it, as far as the gallery needs it, so that the gallery was written before the kit. Imports of the
 * real types, which have the same names, take its place.
 */

/** What a tool under test is given by the kit, once per process. What a tool keeps in memory dies with its process. */
export interface ProcessUnderTest {
  /** 1, 2, …: a process that was killed is followed by one with a number of its own. Several may be alive at once. */
  readonly number: number;
  /** The kit's clock in milliseconds since 1970. The only clock that a tool under test may read. */
  now(): number;
  /** A place where the kit may crash the process, stall it, or have the call throw a time-out error. */
  at(place: string): Promise<void>;
}

/** What must hold, by its name in words. Return nothing or `true` where it holds; return `false`, a sentence, or throw where it does not. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is one of them
export type Invariants<World> = { readonly [inWords: string]: (seen: Seen<World>) => boolean | string | void };

export interface Seen<World> {
  readonly world: World;
  /** Every execution of every session, as committed once the system came to rest. */
  readonly executions: readonly {
    tenantId: string;
    userId: string;
    sessionId: string;
    executionId: string;
    toolName: string;
    params: unknown;
    status: 'PENDING' | 'RUNNING' | 'SUCCESS' | 'FAILED' | 'TIMED_OUT';
    isUnknown: boolean;
    output: unknown;
    /** Whether a person approved it, and who settled it, if a person did. */
    approvedBy: string | null;
    settledBy: string | null;
  }[];
}

export interface ToolPolicyCheck<World> {
  /** The outside world, made anew for each run. It outlives every process of the run. */
  world: () => World;
  /** The tools, made once for each process. */
  tools: (world: World, process: ProcessUnderTest) => readonly Tool[];
  /** What the model may ask, per tool. */
  calls: { readonly [toolName: string]: fc.Arbitrary<unknown> };
  invariants: Invariants<World>;
  /** A policy above those of the tools, for all of them; the stricter one counts. */
  policy?: (
    params: unknown,
    context: { toolName: string; tenantId: string; userId: string },
  ) => Verdict | Promise<Verdict>;
  /** `settle`: who settles an unknown outcome looks at the world first, by this function. */
  people?: {
    settle?: (
      world: World,
      call: { toolName: string; params: unknown; idempotencyKey: string },
    ) => { outcome: 'succeeded'; output: unknown } | { outcome: 'failed' };
  };
  /** Default: all of them. */
  faults?: readonly ('crash' | 'stall' | 'disconnect' | 'timeout')[];
  sessions?: { tenants?: number; users?: number; sessions?: number };
  numRuns?: number;
  seed?: number;
  database?: 'pglite' | { url: string };
}

/** Policies alone: any sequence of calls, each judged by the policy; what it allows is applied to the world. */
export interface PolicyCheck<Params, World> {
  policy: (
    params: Params,
    context: { tenantId: string; userId: string; now: number; world: World },
  ) => Verdict | Promise<Verdict>;
  params: fc.Arbitrary<Params>;
  world: () => World;
  /** What a call that runs does to the world. */
  apply: (world: World, params: Params, context: { tenantId: string; userId: string; now: number }) => void;
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is one of them
  invariants: { readonly [inWords: string]: (world: World) => boolean | string | void };
  numRuns?: number;
  seed?: number;
}
