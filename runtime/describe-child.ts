import { TurnlockError } from '../errors.ts';
import type { ChildContent, Json, UserTurnContent } from '../machines/event-content.ts';
import type { AgentTool } from './agent-tool.ts';
import { checkMessage } from './check-message.ts';
import type { Planning } from './describe-call.ts';

/**
 * The child session that answers a call with `params`.
 *
 * @throws LIMIT_CHILD_DEPTH when it would be too deep. VALUE_INVALID, VALUE_TOO_LARGE, PARAMS_INVALID when the params make no message that can
 * be stored, and whatever the function that makes it throws.
 */
export function describeChild(planning: Planning, child: AgentTool['child'], params: Json): ChildContent {
  const { limits, session } = planning;
  const { agent } = child;
  const depth = session.depth + 1;
  if (depth > limits.maxChildDepth) {
    throw new TurnlockError('LIMIT_CHILD_DEPTH', {
      message: `too many agents ask each other: ${agent.name} (found ${session.depth} above it, wanted at most ${limits.maxChildDepth - 1})`,
    });
  }
  return { ...factsOf(planning, child), message: messageOf(planning, child, params) };
}

/**
 * The same for a call that was accepted earlier and waited for a slot, maybe in another build: it begins in any case. Where its params make no
 * message any more, they are the message themselves.
 */
export function describeAcceptedChild(planning: Planning, child: AgentTool['child'], params: Json): ChildContent {
  try {
    return { ...factsOf(planning, child), message: messageOf(planning, child, params) };
  } catch {
    return { ...factsOf(planning, child), message: checkMessage(JSON.stringify(params), {}, planning.limits) };
  }
}

function factsOf({ session }: Planning, { agent }: AgentTool['child']): Omit<ChildContent, 'message'> {
  const { name: agentName, version: agentVersion, model } = agent;
  return { agentName, agentVersion, modelId: model.modelId, depth: session.depth + 1 };
}

/** A copy goes to the function: what it does to it must not change what is stored. */
function messageOf({ limits }: Planning, child: AgentTool['child'], params: Json): UserTurnContent {
  return checkMessage(child.message(structuredClone(params)), {}, limits);
}
