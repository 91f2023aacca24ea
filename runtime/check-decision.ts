import type { Tool } from '../adapters/tools/tool.contract.ts';
import { TurnlockError } from '../errors.ts';
import type { Limits } from '../limits.ts';
import type { OutcomeContent } from '../machines/event-content.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import type { Amendment, Decided } from '../persistence/decide-approval.ts';
import { presentParams } from '../persistence/present-params.ts';
import { readExecution } from '../persistence/read-execution.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { checkUuid } from '../persistence/values/check-uuid.ts';
import { kindOf } from '../persistence/values/kind-of.ts';
import { askPolicy } from './ask-policy.ts';
import { checkRoles, checkWho } from './check-message.ts';
import { checkOptions } from './check-options.ts';
import { reasonContent } from './check-settlement.ts';
import { describeParams, givenDigest } from './describe-call.ts';
import { agentOf, type Services } from './services.ts';

/** Who decides, and on what. */
export interface Deciding {
  /** Who it is, as the audit will say it: 1 to 255 characters. The host vouches for it. */
  by: string;
  /** Roles of that person, which the policy's `approvers` may ask for. Default none. */
  roles?: readonly string[];
  /** Digest of the params that the person saw, as `awaiting` shows it: with other params by now, the decision is refused. Default: not asked. */
  digest?: string;
  /**
   * The question that is answered, as `awaiting` and the `onAwaiting` hook name it: a decision that comes late, or is delivered twice, does
   * not answer another one. Default: whatever is asked about the call now.
   */
  approvalId?: string;
}

/** What goes with `approve`. */
export interface ApproveOptions extends Deciding {
  /**
   * Params in place of those that the model gave: validated, judged by the policy, and run with a key of their own. Given back as `awaiting`
   * shows them they are no change. Default: as they are.
   */
  params?: unknown;
}

/** What goes with `deny`. */
export interface DenyOptions extends Deciding {
  /** What the model is told. */
  reason: string;
}

const DECIDING = ['by', 'roles', 'digest', 'approvalId'];

/** @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE, PARAMS_INVALID, AGENT_UNKNOWN, EXECUTION_NOT_FOUND. */
export async function checkApproval(
  services: Services,
  session: CommittedSession,
  executionId: string,
  options: ApproveOptions,
): Promise<Decided> {
  const who = checkDeciding(executionId, checkOptions(options, 'approve', [...DECIDING, 'params']));
  if (options.params === undefined) return { ...who, decision: { type: 'grant', amended: null } };
  const execution = await readExecution(services.store, session, who.executionId);
  if (execution === null) throw noSuchExecution(session, who.executionId);
  const { digest } = presentParams(execution);
  // What is given back as it was shown is no change, whatever the schema would make of it.
  if (givenDigest(services.store, options.params) === digest)
    return { ...who, digest: who.digest ?? digest, decision: { type: 'grant', amended: null } };
  return { ...who, decision: { type: 'grant', amended: await amend(services, session, execution, options.params) } };
}

/** The approval of params as they are, which needs no agent. @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE. */
export function checkPlainApproval(executionId: string, options: Deciding): Decided {
  return {
    ...checkDeciding(executionId, checkOptions(options, 'approve', DECIDING)),
    decision: { type: 'grant', amended: null },
  };
}

/** @throws OPTIONS_INVALID, VALUE_INVALID, VALUE_TOO_LARGE. */
export function checkDenial(limits: Limits, executionId: string, options: DenyOptions): Decided {
  const who = checkDeciding(executionId, checkOptions(options, 'deny', [...DECIDING, 'reason']));
  const content = reasonContent('APPROVAL_DENIED', options.reason, limits);
  return { ...who, decision: { type: 'deny', content } };
}

function checkDeciding(executionId: string, deciding: Deciding): Omit<Decided, 'decision'> {
  const { by, roles, digest, approvalId } = deciding;
  const names = checkRoles(roles);
  if (digest !== undefined && typeof digest !== 'string') throw refused('digest', kindOf(digest), 'a text');
  return {
    executionId: checkUuid(executionId, 'executionId'),
    by: checkWho(by),
    roles: names,
    digest: digest ?? null,
    approvalId: approvalId === undefined ? null : checkUuid(approvalId, 'approvalId'),
  };
}

function refused(option: string, found: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `option not accepted: ${option} of a decision (found ${found}, wanted ${wanted})`,
  });
}

/**
 * Params of a person's, by the schema of the tool, and by its policy of this moment: user code, which runs before anything is written. The
 * policy judges them once more in the moment before the call starts.
 */
async function amend(
  services: Services,
  session: CommittedSession,
  execution: ExecutionRow,
  given: unknown,
): Promise<Amendment> {
  const { executionId, toolName, runId } = execution;
  const agent = agentOf(services, session);
  const tool = agent.tools.get(toolName);
  if (tool === undefined) {
    throw new TurnlockError('PARAMS_INVALID', {
      message: `tool not known: ${toolName} (session ${session.sessionId})`,
      details: { executionId, sessionId: session.sessionId },
    });
  }
  const { environment, limits } = services.store;
  const described = await inTime(services, tool, describeParams({ session, limits }, tool, given));
  const { params, paramsDigest, repeatable, normalised, once, costMicroMoney, settled } = described;
  if (settled !== undefined) {
    throw new TurnlockError('PARAMS_INVALID', {
      message: `params not accepted: ${tool.name} (${settled.error?.message})`,
      details: { executionId },
    });
  }
  const guards = { ...(once && { once }), ...(costMicroMoney !== undefined && { costMicroMoney }) };
  const content = { toolVersion: tool.version, params, paramsDigest, repeatable, normalised, ...guards };
  const judging = { agent, limits, environment, session, signal: services.closing };
  const judgement = await askPolicy(judging, tool, { executionId, params, isStart: true, runId });
  const approvers = judgement.may === 'ask' ? judgement.asked.approvers : null;
  return { content, approvers, refusal: judgement.may === 'not' ? notAllowed(tool, executionId, judgement) : null };
}

function notAllowed({ name }: Tool, executionId: string, { refusal }: { refusal: OutcomeContent }): TurnlockError {
  const { code, message } = refusal.error ?? { code: 'POLICY_FAILED', message: '' };
  return new TurnlockError(code === 'POLICY_DENIED' ? code : 'POLICY_FAILED', {
    message: `params not allowed by the policy: ${name}, execution ${executionId} (${message})`,
    hint: 'Nothing was decided. Give other params, approve those that were asked about, or refuse the call.',
    details: { executionId },
  });
}

function noSuchExecution({ sessionId }: CommittedSession, executionId: string): TurnlockError {
  return new TurnlockError('EXECUTION_NOT_FOUND', {
    message: `execution not found: ${executionId} (session ${sessionId})`,
    details: { executionId, sessionId },
  });
}

/** A validator that does not end must hold neither the caller nor the runtime's close. */
async function inTime<Result>({ store, closing }: Services, tool: Tool, work: Promise<Result>): Promise<Result> {
  const timeoutMs = tool.timeoutMs ?? store.limits.toolTimeoutMs;
  const over = new AbortController();
  const bound = store.environment.sleep(timeoutMs, AbortSignal.any([over.signal, closing])).then((): never => {
    throw new TurnlockError('PARAMS_INVALID', {
      message: `params not accepted: ${tool.name} (they were not validated within ${timeoutMs} ms)`,
    });
  });
  bound.catch(() => undefined);
  try {
    return await Promise.race([work, bound]);
  } finally {
    over.abort();
  }
}
