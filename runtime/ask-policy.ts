import { isVerdict, type PolicyVerdict } from '../adapters/tools/policy.ts';
import type { Tool } from '../adapters/tools/tool.contract.ts';
import { TurnlockError } from '../errors.ts';
import type { AskedContent, Json, OutcomeContent } from '../machines/event-content.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';
import { normaliseJson } from '../persistence/values/normalise-json.ts';
import { normaliseText } from '../persistence/values/normalise-text.ts';
import type { DriveContext } from './drive-context.ts';

/** What asking a policy needs of a drive. */
export type Judging = Pick<DriveContext, 'agent' | 'limits' | 'environment' | 'session' | 'signal'>;

/** The call that is judged. */
export interface JudgedCall {
  executionId: string;
  params: Json;
  isStart: boolean;
  /** The run of the call. Default: that which is under way. */
  runId?: string;
}

/** What comes of a policy's verdict. */
export type Judgement =
  | { may: 'start' }
  | { may: 'ask'; asked: AskedContent }
  | { may: 'not'; refusal: OutcomeContent };

/** Longest question and longest list of approvers that are kept, in bytes. */
const MAX_ASKED_BYTES = 16_384;

/** Asks the policy of `tool` about one call. Never rejects: what goes wrong with a policy refuses the call. */
export async function askPolicy(judging: Judging, tool: Tool, call: JudgedCall): Promise<Judgement> {
  if (tool.policy === null) return { may: 'start' };
  try {
    return toJudgement(await verdictOf(judging, tool, tool.policy, call));
  } catch (thrown) {
    const { message } = normaliseError(thrown, judging.limits);
    return refused('POLICY_FAILED', `Its policy could not be asked: ${message}`);
  }
}

function toJudgement(verdict: PolicyVerdict): Judgement {
  switch (verdict.type) {
    case 'allow':
      return { may: 'start' };
    case 'deny':
      return refused('POLICY_DENIED', verdict.reason);
    case 'requireApproval': {
      const { question, approvers } = verdict.asked;
      const text =
        question === null ? null : normaliseText(question, { maxBytes: MAX_ASKED_BYTES, name: 'question' }).value;
      const bounds = { maxBytes: MAX_ASKED_BYTES, maxDepth: 3, name: 'approvers' };
      const { value } = normaliseJson(approvers, bounds);
      return { may: 'ask', asked: { ...verdict.asked, question: text, approvers: value as AskedContent['approvers'] } };
    }
  }
}

function refused(code: string, reason: string): Judgement {
  const { value: message, notes } = normaliseText(reason, { maxBytes: MAX_ASKED_BYTES, name: 'reason' }, 'truncate');
  return { may: 'not', refusal: { error: { code, message }, normalised: notes } };
}

async function verdictOf(
  judging: Judging,
  tool: Tool,
  policy: NonNullable<Tool['policy']>,
  { executionId, params, isStart, runId = judging.session.snapshot.context.runId ?? '' }: JudgedCall,
): Promise<PolicyVerdict> {
  const { agent, environment, limits, session } = judging;
  const { tenantId, userId, sessionId, externalId, metadata } = session;
  const over = new AbortController();
  const timeout = new AbortController();
  const signal = AbortSignal.any([judging.signal, timeout.signal]);
  const late = environment.sleep(limits.policyTimeoutMs, over.signal).then((): never => {
    const error = new TurnlockError('POLICY_FAILED', {
      message: `policy did not end in time: ${tool.name} (found no verdict after ${limits.policyTimeoutMs} ms)`,
    });
    timeout.abort(error);
    throw error;
  });
  late.catch(() => undefined);
  try {
    const asking = (async () =>
      policy(structuredClone(params), {
        tenantId,
        userId,
        sessionId,
        runId,
        agent: agent.name,
        toolName: tool.name,
        executionId,
        externalId,
        metadata: structuredClone(metadata),
        isStart,
        signal,
      }))();
    asking.catch(() => undefined);
    const verdict: unknown = await Promise.race([asking, late]);
    if (isVerdict(verdict)) return verdict;
    throw new TurnlockError('POLICY_FAILED', {
      message: `policy gave no verdict: ${tool.name} (wanted what allow, deny or requireApproval makes)`,
    });
  } finally {
    over.abort();
  }
}
