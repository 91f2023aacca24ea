import { TurnlockError } from '../errors.ts';
import type { ChildContent, Json, UserTurnContent } from '../machines/event-content.ts';
import type { EventOf, SessionEvent } from '../machines/session-event.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import { type AgentTool, childOf } from './agent-tool.ts';
import { checkMessage } from './check-message.ts';
import type { Planning } from './describe-call.ts';
import type { DriveContext } from './drive-context.ts';
import type { ReadyParams } from './upgrade-params.ts';

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
 * `event` with the child sessions that its starts begin: of calls that were accepted earlier and waited, maybe in another build. They begin in
 * any case: where the params make no message any more, they are the message themselves.
 */
export function withChildren(
  drive: DriveContext,
  event: EventOf<'execution.started'>,
  rows: readonly ExecutionRow[],
  ready: ReadonlyMap<string, ReadyParams>,
): SessionEvent {
  const executions = event.executions.map((start) => {
    const row = rows.find(({ executionId }) => executionId === start.executionId);
    const child = childOf(drive.agent.tools.get(row?.toolName ?? ''));
    const params = ready.get(start.executionId)?.params ?? row?.inputParameters;
    if (child === null || params === undefined) return start;
    return { ...start, content: { ...start.content, child: describeAcceptedChild(drive, child, params) } };
  });
  return { ...event, executions };
}

function describeAcceptedChild(planning: Planning, child: AgentTool['child'], params: Json): ChildContent {
  try {
    return { ...factsOf(planning, child), message: messageOf(planning, child, params) };
  } catch {
    return {
      ...factsOf(planning, child),
      message: checkMessage(JSON.stringify(params), withTrace(planning), planning.limits),
    };
  }
}

function factsOf({ session }: Planning, { agent }: AgentTool['child']): Omit<ChildContent, 'message'> {
  const { name: agentName, version: agentVersion, model } = agent;
  return { agentName, agentVersion, modelId: model.modelId, depth: session.depth + 1 };
}

/** A copy goes to the function: what it does to it must not change what is stored. */
function messageOf(planning: Planning, child: AgentTool['child'], params: Json): UserTurnContent {
  return checkMessage(child.message(structuredClone(params)), withTrace(planning), planning.limits);
}

/** The child's run is part of the trace of its parent's. */
function withTrace({ watch }: Planning): { metadata: { [name: string]: unknown } } {
  return { metadata: { ...watch?.carrier() } };
}
