import type { Model, ModelRequest, ModelResponse } from '../../models/model.contract.ts';
import type { RehearsedSessions } from './rehearsed-sessions.ts';
import type { RecordedTurn, Transcript } from './transcript.ts';

/**
 * The recorded assistant. What it says follows from the history alone: with `n` assistant turns in it, the recording's turn `n`. So a
 * session that another process continues goes on with the right step.
 *
 * Where the recording has no answer (it ends there, or the user speaks again), it says nothing until the run is cancelled.
 */
export function recordedModel(sessions: RehearsedSessions): Model {
  return {
    modelId: 'recorded',
    async generate(request, { signal }) {
      const transcript = await sessions.transcriptOf(request.sessionId);
      const answer = nextAnswer(transcript, request);
      if (answer !== null) return toResponse(answer);
      sessions.fallSilent(request.sessionId, count(request, 'user'));
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
      );
    },
  };
}

type AssistantTurn = Extract<RecordedTurn, { role: 'assistant' }>;

function nextAnswer({ turns }: Transcript, request: ModelRequest): AssistantTurn | null {
  let left = count(request, 'assistant');
  let users = 0;
  for (const turn of turns) {
    if (turn.role === 'user') users += 1;
    if (turn.role !== 'assistant') continue;
    if (left === 0) return users === count(request, 'user') ? turn : null;
    left -= 1;
  }
  return null;
}

function count({ turns }: ModelRequest, role: 'user' | 'assistant'): number {
  return turns.filter((turn) => turn.role === role).length;
}

function toResponse({ text, calls }: AssistantTurn): ModelResponse {
  return { text, toolCalls: calls.map(({ id, toolName, input }) => ({ toolName, input, providerCallId: id })) };
}
