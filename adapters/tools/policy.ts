import { TurnlockError } from '../../errors.ts';
import type { Approvers, AskedContent, Json } from '../../machines/event-content.ts';

/** Whose call a policy judges. */
export interface PolicyContext {
  tenantId: string;
  userId: string;
  sessionId: string;
  runId: string;
  /** Name of the agent. */
  agent: string;
  toolName: string;
  executionId: string;
  /** The caller's id of the session; `null` when none was given. */
  externalId: string | null;
  /** As given to `createSession`: a copy. */
  metadata: { [name: string]: Json };
  /** Whether the call was planned before, and is judged again in the moment before it starts. */
  isStart: boolean;
  /** Aborts when the policy's time is over, on cancel, and when the lease is lost. */
  signal: AbortSignal;
}

/** What a policy says of a call: made by {@link allow}, {@link deny} and {@link requireApproval}. */
export type PolicyVerdict =
  | { readonly type: 'allow' }
  | { readonly type: 'deny'; readonly reason: string }
  | { readonly type: 'requireApproval'; readonly asked: AskedContent };

/**
 * Judges one call: when the model asks for it, and again in the moment before it starts if it had to wait. The call runs where the last
 * verdict allows it; a policy that throws, ends too late or gives no verdict refuses it.
 */
export type Policy<Params = unknown> = (
  params: Params,
  context: PolicyContext,
) => PolicyVerdict | Promise<PolicyVerdict>;

/** What goes with {@link requireApproval}. */
export interface ApprovalRule {
  /** Why, for whoever decides. Default none. */
  question?: string;
  /** Milliseconds until nobody may decide any more: a whole number from 1 to a hundred years. Default: never. */
  expiresInMs?: number;
  /** Who may decide: at least one of `users`, `roles` and `notUser`. Default: whoever the host lets in. */
  approvers?: Approvers;
  /** `failCall`: an expired call is told to the model as not done, and it may ask again. `failSession`: the run ends in FAILED. Default `failCall`. */
  onExpiry?: 'failCall' | 'failSession';
}

/** A hundred years: beyond, times no longer fit every column and client. */
const MAX_EXPIRY_MS = 100 * 365 * 24 * 3_600_000;

const RULE = ['question', 'expiresInMs', 'approvers', 'onExpiry'];
const APPROVERS = ['users', 'roles', 'notUser'];

/** The call may run. */
export function allow(): PolicyVerdict {
  return { type: 'allow' };
}

/** The call must not run: it fails, and the model is told `reason`. @throws DEFINITION_INVALID when that is no text. */
export function deny(reason: string): PolicyVerdict {
  check(typeof reason === 'string' && reason !== '', 'reason of deny', 'text');
  return { type: 'deny', reason };
}

/**
 * The call waits for a person, whose decision is bound to the params that were seen, and is used once.
 *
 * @throws DEFINITION_INVALID when an option is not of its kind or not one of these.
 */
export function requireApproval(rule: ApprovalRule = {}): PolicyVerdict {
  check(isObject(rule) && isOf(rule, RULE), 'approval', `an object of ${RULE.join(', ')}`);
  const { question = null, expiresInMs = null, approvers = null, onExpiry = 'failCall' } = rule;
  check(question === null || typeof question === 'string', 'question', 'text');
  check(expiresInMs === null || isTime(expiresInMs), 'expiresInMs', 'a whole number from 1 on');
  const named = 'users or roles as lists of names, or notUser; nothing of it undefined';
  check(approvers === null || isApprovers(approvers), 'approvers', named);
  check(onExpiry === 'failCall' || onExpiry === 'failSession', 'onExpiry', 'failCall or failSession');
  return { type: 'requireApproval', asked: { question, expiresInMs, approvers, onExpiry } };
}

const SEVERITY = { allow: 0, requireApproval: 1, deny: 2 } as const;

/**
 * One policy out of several: all are asked, in order, and the strictest verdict holds: `deny` before `requireApproval` before `allow`, the
 * first one among equals.
 */
export function strictest<Params>(...policies: Policy<Params>[]): Policy<Params> {
  check(policies.length > 0 && policies.every((policy) => typeof policy === 'function'), 'policies', 'functions');
  return async (params, context) => {
    let strict: PolicyVerdict = allow();
    for (const policy of policies) {
      const verdict = await policy(params, context);
      if (!isVerdict(verdict)) return verdict;
      if (SEVERITY[verdict.type] > SEVERITY[strict.type]) strict = verdict;
    }
    return strict;
  };
}

/** Whether `value` is what a policy must return. */
export function isVerdict(value: unknown): value is PolicyVerdict {
  if (!isObject(value)) return false;
  const { type, reason, asked } = value as Record<string, unknown>;
  return (
    type === 'allow' ||
    (type === 'deny' && typeof reason === 'string') ||
    (type === 'requireApproval' && isObject(asked) && isAsked(asked as Partial<AskedContent>))
  );
}

/** As `requireApproval` makes it: a verdict may be written by hand. */
function isAsked({ question, expiresInMs, approvers, onExpiry }: Partial<AskedContent>): boolean {
  return (
    (question === null || typeof question === 'string') &&
    (expiresInMs === null || isTime(expiresInMs)) &&
    (approvers === null || (approvers !== undefined && isApprovers(approvers))) &&
    (onExpiry === 'failCall' || onExpiry === 'failSession')
  );
}

function isTime(milliseconds: unknown): boolean {
  return Number.isInteger(milliseconds) && (milliseconds as number) >= 1 && (milliseconds as number) <= MAX_EXPIRY_MS;
}

/** Who is left out by mistake must not let everybody in: what names nobody, or is `undefined`, is no rule. */
function isApprovers(approvers: Approvers): boolean {
  if (!isObject(approvers) || !isOf(approvers, APPROVERS)) return false;
  const rules = Object.entries(approvers);
  return (
    rules.length > 0 && rules.every(([name, rule]) => (name === 'notUser' ? typeof rule === 'boolean' : areNames(rule)))
  );
}

function areNames(names: unknown): boolean {
  return Array.isArray(names) && names.every((name) => typeof name === 'string');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOf(value: object, names: string[]): boolean {
  return Object.keys(value).every((name) => names.includes(name));
}

function check(holds: boolean, what: string, wanted: string): void {
  if (holds) return;
  throw new TurnlockError('DEFINITION_INVALID', { message: `policy not accepted: ${what} (wanted ${wanted})` });
}
