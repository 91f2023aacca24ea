import { z } from 'zod';
import { TurnlockError } from '../../../errors.ts';
import type { Json, TurnPart } from '../../../machines/event-content.ts';
import { defineTool } from '../../tools/define-tool.ts';
import type { Tool, ToolContext } from '../../tools/tool.contract.ts';
import type { Act } from './act.ts';
import type { RehearsedSessions } from './rehearsed-sessions.ts';
import type { Transcript } from './transcript.ts';

/** What the recorded tools are made from. */
export interface RecordedToolsOptions {
  sessions: RehearsedSessions;
  transcripts: readonly Transcript[];
  /** Where the process listens that counts the acts and knows their answers. */
  port: number;
}

/**
 * Every tool that the recordings name. All of them are `idempotent`, so a call whose worker died runs again with its key, and
 * `repeatable`, since a recording may hold identical calls in one message.
 */
export function recordedTools({ sessions, transcripts, port }: RecordedToolsOptions): Tool[] {
  const names = new Set(
    transcripts.flatMap(({ turns }) => turns.flatMap((turn) => (turn.role === 'tool' ? [turn.toolName] : []))),
  );
  return [...names].sort().map((name) =>
    defineTool({
      name,
      description: `The recorded tool ${name}.`,
      inputSchema: z.unknown(),
      effect: 'idempotent',
      repeatable: true,
      async execute(input, context) {
        const place = await placeOf(sessions, context);
        return perform({ ...place, toolName: name, input: input as Json }, context, port);
      },
    }),
  );
}

/** Where in the recording a call stands. Read from the tables: what this process remembers may have died with another one. */
async function placeOf(
  sessions: RehearsedSessions,
  { sessionId, executionId }: ToolContext,
): Promise<Pick<Act, 'transcriptId' | 'turnIndex' | 'ordinal'>> {
  const { id: transcriptId } = await sessions.transcriptOf(sessionId);
  const session = await sessions.runtime.session({ tenantId: sessions.tenantId, sessionId });
  for (const { turnIndex, parts } of await session.history()) {
    const call = (parts as TurnPart[]).find((part) => part.type === 'toolCall' && part.executionId === executionId);
    if (call?.type === 'toolCall') return { transcriptId, turnIndex, ordinal: call.ordinal };
  }
  throw new TurnlockError('INVARIANT_BROKEN', {
    message: `execution stands in no turn: ${executionId} (found the session's history without it)`,
  });
}

async function perform(act: Act, { idempotencyKey, signal }: ToolContext, port: number): Promise<string> {
  const body = JSON.stringify({ act, key: idempotencyKey });
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, signal });
  const answer = (await response.json()) as string;
  if (response.ok) return answer;
  throw new TurnlockError('TOOL_FAILED', { message: `the outside world refused: ${act.toolName} (found ${answer})` });
}
