import { randomUUID } from 'node:crypto';
import type { ModelContext, ModelRequest, ModelResponse } from '../../../adapters/models/model.contract.ts';
import { scripted } from '../../../adapters/models/scripted.ts';
import { type Agent, defineAgent, type LogEntry, type Tool } from '../../../index.ts';
import type { ContextOptions } from '../../../runtime/context/context-options.ts';
import type { RuntimeDatabase } from '../../support/runtime-database.ts';
import { waitFor } from '../../support/wait-for.ts';

type Answer = string | ModelResponse | Promise<string | ModelResponse>;

/** What an agent's model answers, and what it writes where it is asked for a summary. */
export interface NoterScript {
  answer?: (request: ModelRequest) => Answer;
  summary?: (request: ModelRequest, context: ModelContext) => Answer;
  context?: Partial<ContextOptions>;
  tools?: readonly Tool[];
  name?: string;
}

/** An agent with a small budget, and what it was asked. */
export interface Noter {
  agent: Agent;
  requests: ModelRequest[];
  summaryRequests: ModelRequest[];
}

/** One token for every four characters. */
export const countTokens = (text: string): number => Math.ceil(text.length / 4);

export function isSummaryRequest({ instructions }: ModelRequest): boolean {
  return instructions.startsWith('You keep the notes of a conversation');
}

/** An agent that answers what it is told to, and whose summaries count what they were given. */
export function noter(script: NoterScript = {}): Noter {
  const requests: ModelRequest[] = [];
  const summaryRequests: ModelRequest[] = [];
  const { answer = () => `answer ${requests.length}`, context, tools = [] } = script;
  const summary = script.summary ?? (() => `notes ${summaryRequests.length}`);
  const model = scripted((request, given) => {
    if (isSummaryRequest(request)) {
      summaryRequests.push(request);
      return summary(request, given);
    }
    requests.push(request);
    return answer(request);
  });
  const name = script.name ?? `agent-${randomUUID().slice(0, 8)}`;
  const budget = { maxTokens: 600, keepTokens: 100, countTokens, ...context };
  return {
    agent: defineAgent({ name, model, instructions: 'Do it.', tools, context: budget }),
    requests,
    summaryRequests,
  };
}

/** A summary as it is stored. */
export interface SummaryRow {
  memory_id: string;
  content: string;
  covers_to_turn: number;
  is_live: boolean;
}

/** The summaries of a session, in the order in which they tell of more. */
export async function summariesOf(database: RuntimeDatabase, sessionId: string): Promise<SummaryRow[]> {
  return await database.query(
    `SELECT memory_id, content, covers_to_turn, superseded_at IS NULL AS is_live FROM turnlock.agent_memories
      WHERE session_id = $1 AND kind = 'summary' ORDER BY covers_to_turn, created_at`,
    [sessionId],
  );
}

/** Waits until nothing is owed for a session: once its run has ended the note is on its way, so what was logged is waited for first. */
export async function untilSummarised(
  database: RuntimeDatabase,
  sessionId: string,
  count: number,
): Promise<SummaryRow[]> {
  return await waitFor(
    async () => {
      const owed = await database.query('SELECT 1 FROM turnlock.agent_memory_tasks WHERE session_id = $1', [sessionId]);
      const rows = await summariesOf(database, sessionId);
      return owed.length === 0 && rows.length >= count ? rows : null;
    },
    { for: `${count} summaries` },
  );
}

/** Collects what is logged. */
export function logOf(): { entries: LogEntry[]; log: (entry: LogEntry) => void } {
  const entries: LogEntry[] = [];
  return { entries, log: (entry) => void entries.push(entry) };
}
