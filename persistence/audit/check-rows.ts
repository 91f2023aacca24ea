import type { EntityManager } from '@mikro-orm/postgresql';
import { executionRowFacts, modelCallFacts, roundFacts } from '../audited-rows.ts';
import { AgentApproval } from '../entities/agent-approval.entity.ts';
import { AgentModelCall } from '../entities/agent-model-call.entity.ts';
import { AgentToolExecution } from '../entities/agent-tool-execution.entity.ts';
import { paramsDigest } from '../keys/params-digest.ts';
import { refusedDigest } from '../keys/refused-digest.ts';
import { saltedDigest } from '../keys/salted-digest.ts';
import { toExecutionRow } from '../read-open-executions.ts';
import type { SessionKey } from '../read-session.ts';
import type { ExecutionRow } from '../row-changes.ts';
import type { BelievedRow } from './check-contents.ts';
import type { Finding } from './finding.ts';

/** What a payload says of one kind of rows. */
type Kind = 'executions' | 'rounds' | 'modelCalls';

const NAMES: Record<Kind, string> = { executions: 'execution', rounds: 'round', modelCalls: 'model call' };

/**
 * Compares executions, rounds and model calls with the last digest that a transition says of each. A row that differs from what an earlier
 * transition left is no finding as long as a later one may name it: `findings` are those of which none did.
 */
export class RowsCheck {
  readonly #key: SessionKey;
  readonly #differing = new Map<string, Finding & { kind: Kind; id: string }>();
  readonly #params = new Map<string, Finding>();

  constructor(key: SessionKey) {
    this.#key = key;
  }

  /** The rows that a few transitions name, in their order. */
  async check(em: EntityManager, rows: readonly BelievedRow[]): Promise<void> {
    await this.#checkKind('executions', rows, async (executionId) => {
      const found = await em.find(AgentToolExecution, { executionId, ...this.#owner() });
      for (const row of found) this.#checkParams(toExecutionRow(row), rows.at(-1)?.sequence ?? null);
      return found.map((row) => [row.executionId, executionRowFacts(toExecutionRow(row))]);
    });
    await this.#checkKind('rounds', rows, async (approvalId) =>
      (await em.find(AgentApproval, { approvalId, ...this.#owner() })).map((row) => [row.approvalId, roundFacts(row)]),
    );
    await this.#checkKind('modelCalls', rows, async (modelCallId) =>
      (await em.find(AgentModelCall, { modelCallId, ...this.#owner() })).map((row) => [
        row.modelCallId,
        modelCallFacts(row),
      ]),
    );
    em.clear();
  }

  /** What differs from the last transition that names it. Transitions after `version` came meanwhile: what they name is theirs. */
  async findings(em: EntityManager, version: number): Promise<Finding[]> {
    const found: Finding[] = [...this.#params.values()];
    for (const { kind, id, ...finding } of this.#differing.values()) {
      const [later] = (await em.execute(
        `select exists (select from turnlock.agent_transition_payloads
            where session_id = ? and sequence > ?::int and payload #> ?::text[] is not null) as "isNamed"`,
        [this.#key.sessionId, version, `{rows,${kind},${id}}`],
      )) as [{ isNamed: boolean }];
      if (!later.isNamed) found.push(finding);
    }
    return found;
  }

  async #checkKind(
    kind: Kind,
    rows: readonly BelievedRow[],
    read: (ids: { $in: string[] }) => Promise<[string, unknown][]>,
  ): Promise<void> {
    const ids = new Set(rows.flatMap(({ payload }) => Object.keys(payload.rows?.[kind] ?? {})).filter(isUuid));
    const facts = new Map(ids.size === 0 ? [] : await read({ $in: [...ids] }));
    for (const { sequence, salt, payload } of rows) {
      for (const [id, wanted] of Object.entries(payload.rows?.[kind] ?? {})) {
        const row = facts.get(id);
        const place = `${NAMES[kind]} ${id}`;
        if (row !== undefined && saltedDigest(salt, row) === wanted) this.#differing.delete(place);
        else {
          const found = `${place}${row === undefined ? ', which is gone' : ' with other columns'}`;
          this.#differing.set(place, { code: 'ROWS_DIFFER', sequence, found, wanted: 'as it was written', kind, id });
        }
      }
    }
  }

  /** Params of a call are those of its digest; those of one that was refused may be what the model gave. */
  #checkParams(row: ExecutionRow, sequence: number | null): void {
    const { executionId } = row;
    const upgraded = row.upgradedVersion === null || paramsDigest(row.upgradedParameters) === row.upgradedDigest;
    const stray = row.upgradedVersion === null && row.upgradedParameters !== null;
    if (hasOwnParams(row) && upgraded && !stray) {
      this.#params.delete(executionId);
      return;
    }
    const found = `execution ${executionId} with other params`;
    this.#params.set(executionId, { code: 'ROWS_DIFFER', sequence, found, wanted: 'those of its digest' });
  }

  #owner() {
    const { tenantId, sessionId } = this.#key;
    return { tenantId, sessionId };
  }
}

function hasOwnParams({ paramsDigest: digest, inputParameters, rawInput, ordinal, attempt }: ExecutionRow): boolean {
  if (paramsDigest(inputParameters) === digest) return true;
  if (attempt > 0) return false;
  if (rawInput !== null) return refusedDigest(['raw', rawInput]) === digest && isEmpty(inputParameters);
  if (refusedDigest(['input', inputParameters]) === digest) return true;
  const isMarked = Object.keys(inputParameters ?? {}).join() === '$invalid';
  return isMarked && refusedDigest(['place', ordinal]) === digest;
}

function isEmpty(params: unknown): boolean {
  return JSON.stringify(params) === '{}';
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function isUuid(id: string): boolean {
  return UUID.test(id);
}

/** How many rows of a session no transition names: executions, rounds and model calls. */
export async function countUnnamed(em: EntityManager, { tenantId, sessionId }: SessionKey): Promise<number> {
  const named = (
    kind: Kind,
  ) => `select jsonb_object_keys(p.payload -> 'rows' -> '${kind}') from turnlock.agent_transition_payloads p
      where p.session_id = s.session_id and jsonb_typeof(p.payload -> 'rows' -> '${kind}') = 'object'`;
  const [row] = (await em.execute(
    `select (
        (select count(*) from turnlock.agent_approvals a where a.session_id = s.session_id and a.approval_id::text not in (${named('rounds')}))
      + (select count(*) from turnlock.agent_model_calls m where m.session_id = s.session_id and m.model_call_id::text not in (${named('modelCalls')}))
      + (select count(*) from turnlock.agent_tool_executions e where e.session_id = s.session_id and e.metadata -> 'copiedFrom' is null
           and e.execution_id::text not in (${named('executions')})))::int as count
      from turnlock.agent_sessions s where s.tenant_id = ? and s.session_id = ?`,
    [tenantId, sessionId],
  )) as { count: number }[];
  return row?.count ?? 0;
}
