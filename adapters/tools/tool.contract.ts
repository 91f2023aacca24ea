import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import type { EffectClass } from '../../machines/execution-status.ts';

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
}

/** The effect classes that tools can declare. */
export type ToolEffect = Extract<EffectClass, 'readOnly' | 'idempotent' | 'nonRepeatable'>;

/** A tool as the runtime holds it: made by `defineTool`. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: InputSchema;
  /** The input as JSON Schema, as the model sees it. */
  readonly inputJsonSchema: Record<string, unknown>;
  readonly version: number;
  readonly effect: EffectClass;
  readonly repeatable: boolean;
  /** Milliseconds that one attempt may take, above 0; `null`: the runtime's `toolTimeoutMs`. */
  readonly timeoutMs: number | null;
  execute(params: unknown, context: ToolContext): unknown;
}
