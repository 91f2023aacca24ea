import { readExecutions } from '../../../persistence/read-execution.ts';
import { servicesOf } from '../../../runtime/services-of.ts';
import type { Asked, Opened } from '../asked.ts';
import { ChatProjection, type ShownExecution } from './chat-projection.ts';
import type { ChatChunk, ChatMessage } from './chunks.ts';
import { foldChunks } from './fold-chunks.ts';
import { beginsMessage, isAnswer, messageIdOf } from './segments.ts';
import { waitingCalls } from './waiting-calls.ts';

/** The whole chat as messages of the AI SDK: what is committed, and what is asked of people now. */
export async function chatHistory(asked: Asked, opened: Opened): Promise<ChatMessage[]> {
  const { session } = opened;
  const transitions = await session.transitions();
  const turns = new Map((await session.history()).map((turn) => [turn.turnIndex, turn]));
  const rows = await readExecutions(servicesOf(asked.runtime).store, session);
  const executions = new Map(rows.map((row): [string, ShownExecution] => [row.executionId, row]));
  const messages: ChatMessage[] = [];
  let projection = new ChatProjection();
  let chunks: ChatChunk[] = [];
  let current: ChatMessage | null = null;
  const close = (): void => {
    if (current === null) return;
    current.parts = foldChunks(chunks);
    if (current.parts.length > 0) messages.push(current);
  };
  for (const transition of transitions) {
    const written = transition.turnIndexes.flatMap((index) => turns.get(index) ?? []);
    if (beginsMessage(transition)) {
      close();
      const text = written.find(({ role }) => role === (isAnswer(transition) ? 'tool' : 'user'))?.content;
      const id = transition.messageId ?? `${messageIdOf(transition)}:user`;
      if (text !== undefined) messages.push({ id, role: 'user', parts: [{ type: 'text', text, state: 'done' }] });
      [projection, chunks] = [new ChatProjection(), []];
      current = { id: messageIdOf(transition), role: 'assistant', parts: [] };
    }
    chunks.push(...projection.transition(transition, written, executions));
  }
  chunks.push(...projection.asked(await waitingCalls(asked, opened)), ...projection.end());
  close();
  return messages;
}
