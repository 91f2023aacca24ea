import type { Tool, TransactionalContext } from '../adapters/tools/tool.contract.ts';
import { INSIDE_COMMIT } from '../environment.ts';
import type { Act, ActEnd } from '../persistence/commit-request.ts';
import type { ToolTransaction } from '../persistence/database.contract.ts';
import { asTool } from '../persistence/reentrance.ts';
import type { ExecutionRow } from '../persistence/row-changes.ts';
import type { DriveContext } from './drive-context.ts';
import { RememberedInCommit } from './memory/remembered-in-commit.ts';
import { observeAttempt } from './observe.ts';
import { returnedBy } from './returned-by.ts';
import { toolContext } from './tool-context.ts';
import { failureOf } from './tool-failure.ts';
import { outputContent } from './tool-output.ts';
import { toQueryable } from './tool-queryable.ts';
import type { NotReady, ReadyParams } from './upgrade-params.ts';

/** Whether a call acts inside the commit that settles it. */
export function isTransactional({ effect }: { effect: string }): boolean {
  return effect === 'transactional';
}

/** Milliseconds that a transactional tool has, in which the session's lock and a connection are held. */
function transactionalTimeoutMs({ limits }: Pick<DriveContext, 'limits'>, tool: Tool | undefined): number {
  return tool?.timeoutMs ?? Math.min(limits.toolTimeoutMs, limits.statementTimeoutMs);
}

/**
 * The act of a transactional tool, to be run inside the commit. It never rejects: what the tool throws, or that its time is over, means that
 * what it wrote is rolled back, so it is known to have done nothing. So it is where its params could not be made `ready` for this build.
 */
export function actOf(drive: DriveContext, execution: ExecutionRow, ready: ReadyParams | NotReady): Act {
  const tool = drive.agent.tools.get(execution.toolName);
  const timeoutMs = transactionalTimeoutMs(drive, tool);
  const run: Act['run'] = (transaction) =>
    observeAttempt(drive, execution, () => act(drive, execution, tool, ready, timeoutMs, transaction));
  return { timeoutMs, run };
}

async function act(
  drive: DriveContext,
  execution: ExecutionRow,
  tool: Tool | undefined,
  ready: ReadyParams | NotReady,
  timeoutMs: number,
  transaction: ToolTransaction,
): Promise<ActEnd> {
  if (tool === undefined || !isTransactional(tool)) {
    return failed('TOOL_UNKNOWN', `There is no transactional tool named ${execution.toolName} any more.`);
  }
  if ('problem' in ready) return failed(ready.problem.code, `${ready.problem.message} Nothing was done.`);
  const { environment } = drive;
  const { sessionId } = drive.session;
  const place = { sessionId, executionId: execution.executionId, detail: INSIDE_COMMIT };
  await environment.faultPoint('beforeEffect', place);
  const over = new AbortController();
  const deadline = new AbortController();
  const signal = AbortSignal.any([drive.signal, deadline.signal]);
  const timedOut = environment.sleep(timeoutMs, over.signal).then(() => {
    deadline.abort();
    return failed(
      'TOOL_TIMED_OUT',
      `It did not end within ${timeoutMs} ms, and what it wrote was rolled back: nothing was done.`,
    );
  });
  timedOut.catch(() => undefined);
  const remembered = new RememberedInCommit(drive, execution);
  try {
    const context: TransactionalContext = {
      ...toolContext(drive, execution, signal),
      memory: remembered,
      transaction: toQueryable(transaction),
      em: transaction.em,
    };
    const acted = asTool(tool.name, async (): Promise<ActEnd> => {
      const insideEffect = environment.faultPoint('insideEffect', place);
      if (insideEffect !== undefined) await insideEffect;
      const { value } = await returnedBy(tool.execute(structuredClone(ready.params), context));
      await transaction.em.flush();
      const memories = remembered.end();
      return { outcome: 'succeeded', content: await outputContent(drive, tool, value), retryInMs: null, memories };
    });
    const end = await Promise.race([acted.catch((thrown) => threw(drive, tool, execution, thrown)), timedOut]);
    // Where the connection broke nothing of the effect is left, and the whole commit is done again.
    if (!transaction.isBroken) await environment.faultPoint('afterEffect', place);
    return end;
  } finally {
    over.abort();
    remembered.end();
  }
}

/** A throw leaves nothing behind, so it is known to have failed, whatever the tool says of it. */
function threw(drive: DriveContext, tool: Tool, execution: ExecutionRow, thrown: unknown): ActEnd {
  const failure = failureOf({ ...drive, tool, execution }, thrown);
  return {
    outcome: 'failed',
    content: failure.content,
    retryInMs: failure.type === 'attemptFailed' ? failure.retryInMs : null,
  };
}

function failed(code: string, message: string): ActEnd {
  return { outcome: 'failed', content: { error: { code, message } }, retryInMs: null };
}
