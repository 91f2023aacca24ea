import type { StandardSchemaV1 } from '@standard-schema/spec';
import { TurnlockError } from '../../errors.ts';
import type { EffectClass } from '../../machines/execution-status.ts';
import { checkRetry } from './check-retry.ts';
import { checkOnRepeat } from './on-repeat.ts';
import { checkOnce } from './once.ts';
import type { Policy } from './policy.ts';
import type { Reconciliation } from './reconciliation.ts';
import type {
  InputSchema,
  OnRepeat,
  OutputSchema,
  RetryBackoff,
  Tool,
  ToolContext,
  ToolEffect,
  ToolVersion,
  TransactionalContext,
} from './tool.contract.ts';
import { versionsOf } from './versioned.ts';

/** What `execute` returns: what its `outputSchema` takes, or anything. */
export type Returned<Schema extends OutputSchema | undefined> = Schema extends OutputSchema
  ? StandardSchemaV1.InferInput<Schema>
  : unknown;

/** What every tool declares. */
interface CommonDefinition<Input extends InputSchema, Output extends OutputSchema | undefined, Context> {
  /** `[A-Za-z0-9_-]{1,64}`, unique within an agent. */
  name: string;
  /** What the tool does, for the model. */
  description: string;
  /**
   * Validates the params before anything is written; the tool gets its output. Its JSON Schema is shown to the model. Where it changes so
   * that stored params no longer fit, name both: `versioned(before).to(now, upgrade)`.
   */
  inputSchema: Input;
  /**
   * Validates what `execute` returns; what it makes of it is stored and told to the model. An output that does not fit changes nothing
   * about the act: the call has succeeded, and is stored as it came, with what is wrong. Default: any output.
   */
  outputSchema?: Output;
  /**
   * Whether an approval stays good where an upgrade changed the params of a call that waits. Default false: a person is asked again.
   */
  keepsApproval?: boolean;
  /** Whether identical calls of one assistant turn all run. Default false: one runs and answers them all. */
  repeatable?: boolean;
  /**
   * What comes of a call that equals one of the same run which has succeeded, is open, or may have taken effect: `ask` holds it for a
   * person, `answer` answers it with the recorded result and runs nothing, `run` runs it. After a call that failed it runs in any case.
   * Not for `readOnly` and `idempotent`, which always run. Default `ask`.
   */
  onRepeat?: OnRepeat;
  /**
   * One act per business key, such as one refund per order, whatever the model asks and in whatever session: `key` makes it out of the
   * params, a text that is not blank, and it counts within the tenant or the session, for this tool's name. Keys are compared as they are given:
   * nothing is trimmed, no case is folded. While a call holds the key, and
   * once one has succeeded, others with the key do not run; once it is known that nothing happened, the next one may. An output is told to
   * other users only with `shareAcrossUsers` (default false). Not together with `onRepeat`: the key answers repeats too. Default none.
   */
  once?: {
    per: 'session' | 'tenant';
    key(params: StandardSchemaV1.InferOutput<Input>): string;
    shareAcrossUsers?: boolean;
  };
  /**
   * What a call costs, in millionths of your money, for budgets of operators: a whole number from 0 on, made out of the params, in the same
   * money for all tools. A call whose cost cannot be told fails. Default: nothing is said, and it counts as 0.
   */
  cost?(params: StandardSchemaV1.InferOutput<Input>): number;
  /** Milliseconds that one attempt may take: a whole number from 1 to 2^31 - 1. Default: the runtime's `toolTimeoutMs`. */
  timeoutMs?: number;
  /** Judges each call: `allow()`, `deny(reason)` or `requireApproval(…)`. Default: every call may run. */
  policy?: Policy<StandardSchemaV1.InferOutput<Input>>;
  /**
   * Tries a call again whose attempt failed, with the same key, after a wait that survives the process: `attempts` in all, a whole number
   * from 1 to 1 000, and `backoff`, see {@link RetryBackoff}. Retried is what throws a `ToolError` with `retryable: true`; with `readOnly`
   * and `idempotent` also whatever else is thrown. Default: a failure is final, and the model decides.
   */
  retry?: { attempts: number; backoff?: Partial<RetryBackoff> };
  /**
   * Does the act. What it returns must be JSON; `undefined` is stored as `null`. What it throws becomes the call's result. A `ToolError`
   * says more: that another attempt may help, or that it is not known whether the act happened; then the effect class decides, at once.
   */
  execute(params: StandardSchemaV1.InferOutput<Input>, context: Context): Returned<Output> | Promise<Returned<Output>>;
}

/** What each class declares. */
interface DefinitionOf<Input extends InputSchema, Output extends OutputSchema | undefined> {
  plain: CommonDefinition<Input, Output, ToolContext> & {
    /**
     * What a repeat of the act would do, so what happens when it was started and nothing says how it ended: `readOnly` and
     * `idempotent` run again with the same key, `reconcilable` is asked by `reconcile`, `nonRepeatable` waits for a person. Default
     * `nonRepeatable`.
     */
    effect?: ToolEffect;
    reconcile?: undefined;
  };
  reconcilable: CommonDefinition<Input, Output, ToolContext> & {
    effect: 'reconcilable';
    /**
     * Asks the receiver how an attempt ended of which nothing says it: {@link done}, {@link notDone} or {@link cannotTell}. Asked once
     * nobody can be at work on it any more, outside any transaction, with the tool's time; again where it throws. It must not act.
     */
    reconcile(
      params: StandardSchemaV1.InferOutput<Input>,
      context: ToolContext,
    ): Reconciliation<Returned<Output>> | Promise<Reconciliation<Returned<Output>>>;
  };
  transactional: CommonDefinition<Input, Output, TransactionalContext> & {
    /**
     * The tool writes by `context.transaction` or `context.em`, which are the commit's own: what it did and that it did it are one commit,
     * so nothing can be unknown. What it throws rolls its writes back. It holds the session's lock and a connection, so it should be quick:
     * `timeoutMs` is by default the lesser of `toolTimeoutMs` and `statementTimeoutMs`. It may run more than once, of which one counts.
     */
    effect: 'transactional';
    reconcile?: undefined;
  };
}

/** What `defineTool` takes. */
export type ToolDefinition<
  Input extends InputSchema = InputSchema,
  Output extends OutputSchema | undefined = OutputSchema | undefined,
> = DefinitionOf<Input, Output>[keyof DefinitionOf<Input, Output>];

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const EFFECTS: readonly EffectClass[] = ['readOnly', 'idempotent', 'transactional', 'reconcilable', 'nonRepeatable'];
const OPTIONS = [
  'name',
  'description',
  'inputSchema',
  'outputSchema',
  'effect',
  'repeatable',
  'onRepeat',
  'once',
  'cost',
  'timeoutMs',
  'retry',
  'policy',
  'keepsApproval',
  'execute',
  'reconcile',
];

/** A timer holds no longer time. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Defines a tool that agents can call. Nothing is registered: pass the result to `defineAgent`.
 *
 * @throws TOOL_NAME_INVALID when the name has other characters or more than 64.
 * @throws DEFINITION_INVALID when an option is not of its kind or not one of these, or the schema cannot say itself as JSON Schema.
 */
export function defineTool<const Input extends InputSchema, const Output extends OutputSchema | undefined = undefined>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  if (typeof definition !== 'object' || definition === null) throw nameRefused(undefined);
  const {
    name,
    description,
    effect = 'nonRepeatable',
    repeatable = false,
    timeoutMs = null,
    policy = null,
    execute,
  } = definition;
  const { outputSchema, reconcile, cost, keepsApproval = false } = definition;
  if (typeof name !== 'string' || !NAME.test(name)) throw nameRefused(name);
  const unknown = Object.keys(definition).find((option) => !OPTIONS.includes(option));
  // An option that is ignored in silence could be a policy that somebody relies on.
  check(name, unknown === undefined, unknown ?? '', `only ${OPTIONS.join(', ')}`);
  check(name, typeof description === 'string', 'description', 'text');
  check(name, EFFECTS.includes(effect), 'effect', EFFECTS.join(', '));
  check(name, typeof repeatable === 'boolean', 'repeatable', 'true or false');
  check(name, timeoutMs === null || isTimeout(timeoutMs), 'timeoutMs', `a whole number from 1 to ${MAX_TIMER_MS}`);
  check(name, policy === null || typeof policy === 'function', 'policy', 'a function');
  check(name, typeof keepsApproval === 'boolean', 'keepsApproval', 'true or false');
  check(name, typeof execute === 'function', 'execute', 'a function');
  check(name, outputSchema === undefined || isSchema(outputSchema), 'outputSchema', 'a Standard Schema');
  const isReconcilable = effect === 'reconcilable';
  const wanted = isReconcilable
    ? 'a function, since the tool is reconcilable'
    : 'none, since the tool is not reconcilable';
  check(name, typeof reconcile === (isReconcilable ? 'function' : 'undefined'), 'reconcile', wanted);
  const inputSchema = definition.inputSchema as unknown as InputSchema;
  const versions = versionsOf(inputSchema, `inputSchema of ${name}`);
  check(name, cost === undefined || typeof cost === 'function', 'cost', 'a function');
  const once = checkOnce(name, definition.once);
  check(name, once === null || definition.onRepeat === undefined, 'onRepeat', 'none, since `once` answers repeats');
  return {
    name,
    description,
    inputSchema,
    inputJsonSchema: (versions.at(-1) as ToolVersion).jsonSchema,
    version: versions.length,
    versions,
    keepsApproval,
    hasForeignSchema: false,
    effect,
    repeatable,
    onRepeat: checkOnRepeat(name, effect, definition.onRepeat),
    once,
    cost: (cost ?? null) as Tool['cost'],
    timeoutMs,
    policy: policy as Policy | null,
    isQuestion: false,
    retry: checkRetry(name, definition.retry),
    outputSchema: outputSchema ?? null,
    execute: execute as Tool['execute'],
    reconcile: (reconcile ?? null) as Tool['reconcile'],
  };
}

function isSchema(schema: unknown): boolean {
  const standard = (schema as OutputSchema | null)?.['~standard'];
  return typeof standard?.validate === 'function';
}

function nameRefused(name: unknown): TurnlockError {
  const found = typeof name === 'string' ? JSON.stringify(name.slice(0, 80)) : typeof name;
  return new TurnlockError('TOOL_NAME_INVALID', {
    message: `tool name not accepted: ${found} (wanted 1 to 64 of A-Z a-z 0-9 _ -)`,
  });
}

function isTimeout(timeoutMs: number): boolean {
  return Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= MAX_TIMER_MS;
}

function check(tool: string, holds: boolean, option: string, wanted: string): void {
  if (holds) return;
  throw new TurnlockError('DEFINITION_INVALID', {
    message: `tool option not accepted: ${option} of ${tool} (wanted ${wanted})`,
  });
}
