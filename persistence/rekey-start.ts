import type { EntityManager } from '@mikro-orm/postgresql';
import type { EventOf, SessionEvent } from '../machines/session-event.ts';
import { rekeyClaim } from './amend-claim.ts';
import { DONE_FOR_ANOTHER_USER, findUnknown, heldElsewhere, type NotRun } from './claim-keys.ts';
import type { Claimed, Claiming } from './claims.ts';
import { AgentToolExecution } from './entities/agent-tool-execution.entity.ts';
import { presentParams } from './present-params.ts';
import { toExecutionRow } from './read-open-executions.ts';

/** The longest result that is told with a refusal. */
const MAX_SHOWN_CHARACTERS = 2_000;

/**
 * The start of a call whose business key is another one than when it was made, since its tool is of a later version by now: it takes that key
 * and frees its former one. Where another call has the key it does not run, and is answered as it would have been with that key in the
 * first place. Such a call starts alone, so that one event has one answer.
 */
export async function rekeyStart(
  em: EntityManager,
  claiming: Claiming,
  event: EventOf<'execution.started'>,
): Promise<SessionEvent> {
  const [start] = event.executions.filter(({ content }) => content?.once !== undefined);
  if (start === undefined) return event;
  const { tenantId, sessionId } = claiming;
  const { executionId, upgrade, content } = start;
  const found = await em.findOneOrFail(AgentToolExecution, { executionId, tenantId, sessionId });
  const row = toExecutionRow(found);
  const paramsDigest = upgrade?.paramsDigest ?? presentParams(row).digest;
  const { claim, taken } = await rekeyClaim(em, claiming, row, { once: content?.once, paramsDigest });
  if (taken !== undefined) {
    const error = await whyNot(em, claiming, taken, content?.once?.shareAcrossUsers ?? false);
    return { type: 'execution.refused', executions: [{ executionId, content: { error } }] };
  }
  const rekeyed = { ...start, content: { ...content, ...(claim !== null && { claim }) } };
  return { ...event, executions: event.executions.map((one) => (one === start ? rekeyed : one)) };
}

async function whyNot(em: EntityManager, claiming: Claiming, taken: Claimed, isShared: boolean): Promise<NotRun> {
  if (taken.state === 'held') return heldElsewhere((await findUnknown(em, claiming, [taken])).size > 0);
  if (taken.user_id !== claiming.userId && !isShared) return DONE_FOR_ANOTHER_USER;
  const which = taken.execution_id === null ? 'its session is gone' : `execution ${taken.execution_id}`;
  const said = `A call with the same business key has succeeded before (${which}). It was not repeated.`;
  const { output } = taken;
  const isShort = output !== null && output.length <= MAX_SHOWN_CHARACTERS;
  return { code: 'CLAIM_HELD', message: isShort ? `${said} Its result: ${output}` : said };
}
