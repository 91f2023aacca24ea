import type { EntityManager } from '@mikro-orm/postgresql';
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import type { Json } from '../../machines/event-content.ts';
import type { EffectClass } from '../../machines/execution-status.ts';
import type { ToolMemory, TransactionalMemory } from './memory.contract.ts';
import type { Policy } from './policy.ts';

/** A validator of input: any Standard Schema that can also say itself as JSON Schema (Zod 4.2 and later, ArkType, Valibot …). */
export type InputSchema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output> &
  StandardJSONSchemaV1<Input, Output>;

/** What a tool is handed beside its params. */
export interface ToolContext {
  /** The same over every retry and recovery of one execution: pass it on to receivers that honour such keys. */
  idempotencyKey: string;
  /** Rises with every grant of the session's lease: receivers that can fence refuse a lower one. */
  fencingToken: number;
  /** Aborts at the deadline, on cancel, and when the lease is lost. Stop soon after. */
  signal: AbortSignal;
  tenantId: string;
  userId: string;
  sessionId: string;
  runId: string;
  executionId: string;
  /** 1 for the first attempt. */
  attempt: number;
  /** The business key that the call holds, of a tool that declares `once`; else `null`. */
  claim: ToolClaim | null;
  /** What the tools of the run keep for each other, in memory. */
  scratchpad: Scratchpad;
  /** What is remembered of the session's user. */
  memory: ToolMemory;
}

/**
 * JSON values that the tools of one run keep for each other: in the memory of the process that drives it, one for each run, bounded, never
 * stored. It is empty when the run begins, and again whenever the run goes on after a pause (a person was asked, child sessions worked) or in
 * another process. A rollback does not undo it. What must last is returned, or remembered.
 *
 * A tool that is still out when its run has ended finds it empty, and what it sets is dropped.
 */
export interface Scratchpad {
  /** A copy of what `key` holds; `undefined` where it holds nothing. */
  get(key: string): Json | undefined;
  /**
   * Keeps a copy of `value`, in place of what `key` held. Where it throws, what was kept before stays.
   *
   * @throws VALUE_INVALID for what JSON cannot hold, and for a key that is no text of 1 to 255 characters.
   * @throws VALUE_TOO_LARGE when all that is kept would have more than `limits.maxScratchpadBytes`, or more than 1,000 keys.
   */
  set(key: string, value: unknown): void;
  /** Whether `key` held something, which is gone now. */
  delete(key: string): boolean;
  /** The keys that hold something, those that were set first first. */
  keys(): string[];
}

/** A business key that a call holds. */
export interface ToolClaim {
  /** 64 hexadecimal digits: the same for every call with that key. */
  digest: string;
  /** 1 for the first call that got the key, one more each time that the key was freed. */
  generation: number;
}

/** By which business key the calls of a tool are one act. */
export interface Once {
  /** Within what a key counts. */
  readonly per: 'session' | 'tenant';
  /** Whether other users of the tenant are answered with the recorded output. */
  readonly shareAcrossUsers: boolean;
  key(params: unknown): unknown;
}

/** A statement as node-postgres takes it. `name` is not looked at: nothing is prepared. */
export interface QueryConfig {
  text: string;
  values?: readonly unknown[];
  rowMode?: 'array';
  types?: { getTypeParser(oid: number, format?: never): unknown };
  name?: string;
}

/** The answer as node-postgres gives it. */
export interface QueryResult<Row = Record<string, unknown>> {
  rows: Row[];
  rowCount: number | null;
  command: string;
  oid: number;
  fields: { name: string; dataTypeID: number }[];
}

/**
 * A transaction in the shape of a client of node-postgres: Drizzle, Kysely and what else takes one wrap it. A text holds one statement.
 * It is of no use once `execute` has ended, and nothing in it can end the transaction.
 */
export interface Queryable {
  /**
   * @throws the error of the database; then what the tool wrote is rolled back, unless a savepoint of its own undid it.
   * @throws TRANSACTION_CONTROL for BEGIN, COMMIT, ROLLBACK, SET without LOCAL and the like. TRANSACTION_OVER after `execute` has ended.
   */
  // biome-ignore lint/suspicious/noExplicitAny: rows of arbitrary statements, as in node-postgres
  query<Row = any>(query: string | QueryConfig, values?: readonly unknown[]): Promise<QueryResult<Row>>;
  /** Does nothing: a client of a pool has it. */
  release(): void;
}

/** What a transactional tool is handed beside its params. */
export interface TransactionalContext extends ToolContext {
  /** The transaction of the commit that settles the call. */
  readonly transaction: Queryable;
  /**
   * An EntityManager in that transaction; of the program's own MikroORM where the runtime was given one by `postgres(orm)`. Flushed when
   * `execute` returns.
   */
  readonly em: EntityManager;
  /** What is remembered of the session's user; it remembers by the commit that settles the call. */
  readonly memory: TransactionalMemory;
}

/** The effect classes that a tool declares by their name alone. */
export type ToolEffect = Exclude<EffectClass, 'transactional' | 'reconcilable'>;

/** What comes of a call that repeats one of the same run which has succeeded, is open, or may have taken effect. */
export type OnRepeat = 'ask' | 'answer' | 'run';

/** A validator of output: any Standard Schema. */
export type OutputSchema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output>;

/** How long to wait before a further attempt: `initialMs` before the second, times `factor` for each one more, at most `maxMs`. */
export interface RetryBackoff {
  /** Milliseconds, 0 or more. Default 1 000. */
  initialMs: number;
  /** 1 or more. Default 2. */
  factor: number;
  /** Milliseconds, before the spread. Default 60 000. */
  maxMs: number;
  /** 0 to 1: the wait is spread evenly from `1 - jitter` to `1 + jitter` times. Default 0.5. */
  jitter: number;
}

/** Whether and when a call whose attempt failed is tried again. */
export interface Retry {
  /** Attempts of one call in all, the first and those after a crash among them. */
  readonly attempts: number;
  readonly backoff: Readonly<RetryBackoff>;
}

/** One version of a tool's input. */
export interface ToolVersion {
  readonly schema: InputSchema;
  /** What params must be to validate, as JSON Schema. */
  readonly jsonSchema: Record<string, unknown>;
  /** Makes this version's input out of params of the version before; `null` for the first. */
  readonly upgrade: ((old: unknown) => unknown) | null;
}

/** A tool as the runtime holds it: made by `defineTool`. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: InputSchema;
  /** The input as JSON Schema, as the model sees it. */
  readonly inputJsonSchema: Record<string, unknown>;
  /** The number of `versions`. */
  readonly version: number;
  /** From 1 on; the last one is that of `inputSchema`. */
  readonly versions: readonly ToolVersion[];
  /** Whether an approval of a call stays good where an upgrade changed its params. */
  readonly keepsApproval: boolean;
  /** Whether the schema is another program's, which may change it at any time: then it is not compared with what was recorded. */
  readonly hasForeignSchema: boolean;
  readonly effect: EffectClass;
  readonly repeatable: boolean;
  /** `run` for the classes whose repeat does no harm. */
  readonly onRepeat: OnRepeat;
  /** `null`: no business key. */
  readonly once: Once | null;
  /** What a call costs, in millionths of money; `null`: nothing is said. */
  readonly cost: ((params: unknown) => unknown) | null;
  /** Milliseconds that one attempt may take, above 0; `null`: the runtime's `toolTimeoutMs`. */
  readonly timeoutMs: number | null;
  /** Judges each call before it runs; `null`: all may run. */
  readonly policy: Policy | null;
  /** Whether its output comes from the user, as the answer to a question: it is never executed. */
  readonly isQuestion: boolean;
  /** `null`: a failed attempt is not tried again. */
  readonly retry: Retry | null;
  /** What `execute` promises to return; `null`: nothing. */
  readonly outputSchema: OutputSchema | null;
  /** `null` for every class but `reconcilable`. */
  readonly reconcile: ((params: unknown, context: ToolContext) => unknown) | null;
  /** A transactional tool is handed a {@link TransactionalContext}. */
  execute(params: unknown, context: ToolContext): unknown;
}
