import type { Tool } from '../adapters/tools/tool.contract.ts';
import { TurnlockError } from '../errors.ts';
import { type Limits, MAX_CHARACTERS } from '../limits.ts';
import type { AmendedContent } from '../machines/event-content.ts';
import type { CommittedSession } from '../persistence/committed-session.ts';
import type { Decided } from '../persistence/decide-approval.ts';
import { readExecution } from '../persistence/read-execution.ts';
import { checkIdentifier } from '../persistence/values/check-identifier.ts';
import { checkUuid } from '../persistence/values/check-uuid.ts';
import { kindOf } from '../persistence/values/kind-of.ts';
import { checkWho } from './check-message.ts';
import { checkOptions } from './check-options.ts';
import { reasonContent } from './check-settlement.ts';
import { describeParams } from './describe-call.ts';
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
  /** Params in place of those that the model gave: validated, and run with a key of their own. Default: as they are. */
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
  const amended =
    options.params === undefined ? null : await checkParams(services, session, who.executionId, options.params);
  return { ...who, decision: { type: 'grant', amended } };
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
  const { by, roles = [], digest, approvalId } = deciding;
  if (!Array.isArray(roles)) throw refused('roles', kindOf(roles), 'an array of names');
  const names = [...roles].map((role) =>
    checkIdentifier(role, { name: 'role', maxCharacters: MAX_CHARACTERS.decidedBy }),
  );
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

/** Params of a person's, by the schema of the tool: validated before anything is written. */
async function checkParams(
  services: Services,
  session: CommittedSession,
  executionId: string,
  given: unknown,
): Promise<AmendedContent> {
  const agent = agentOf(services, session);
  const execution = await readExecution(services.store, session, executionId);
  const tool = execution === null ? undefined : agent.tools.get(execution.toolName);
  if (execution === null || tool === undefined) {
    const what = execution === null ? `execution not found: ${executionId}` : `tool not known: ${execution.toolName}`;
    throw new TurnlockError(execution === null ? 'EXECUTION_NOT_FOUND' : 'PARAMS_INVALID', {
      message: `${what} (session ${session.sessionId})`,
      details: { executionId, sessionId: session.sessionId },
    });
  }
  const { params, paramsDigest, repeatable, normalised, once, costMicroMoney, settled } = await inTime(
    services,
    tool,
    describeParams({ session, limits: services.store.limits }, tool, given),
  );
  const guards = { ...(once && { once }), ...(costMicroMoney !== undefined && { costMicroMoney }) };
  if (settled === undefined)
    return { toolVersion: tool.version, params, paramsDigest, repeatable, normalised, ...guards };
  throw new TurnlockError('PARAMS_INVALID', {
    message: `params not accepted: ${tool.name} (${settled.error?.message})`,
    details: { executionId },
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
