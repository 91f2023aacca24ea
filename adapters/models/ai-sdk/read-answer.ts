import type { ModelContext } from '../model.contract.ts';
import { type Answer, OpenBlocks } from './answer.ts';
import { brokenAnswer } from './broken-answer.ts';
import type { SdkStreamPart } from './sdk-types.ts';

/**
 * Reads a model's stream to its end, showing text and reasoning as they come.
 *
 * @throws what the stream reports as an error, at its first one; the signal's reason when it aborts. The rest is then not read.
 */
export async function readAnswer(
  stream: ReadableStream<SdkStreamPart>,
  { signal, emit }: ModelContext,
): Promise<Answer> {
  const reader = stream.getReader();
  const blocks = new OpenBlocks();
  const answer: Answer = { parts: [], warnings: [] };
  const stop = () => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      signal.throwIfAborted();
      takePart(answer, blocks, piece.value);
      show(piece.value, emit);
    }
    signal.throwIfAborted();
    return answer;
  } catch (error) {
    stop();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Signatures come as deltas without text. */
function show(part: SdkStreamPart, emit: ModelContext['emit']): void {
  if (part.type !== 'text-delta' && part.type !== 'reasoning-delta') return;
  if (part.delta !== '') emit({ type: part.type === 'text-delta' ? 'text' : 'reasoning', text: part.delta });
}

function takePart(answer: Answer, blocks: OpenBlocks, part: SdkStreamPart): void {
  switch (part.type) {
    case 'text-start':
    case 'text-delta':
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning-end': {
      const begun = blocks.take(part);
      if (begun !== null) answer.parts.push(begun);
      return;
    }
    case 'tool-result':
      // A preliminary one is replaced by those that follow.
      if (part.preliminary !== true) answer.parts.push(part);
      return;
    case 'tool-call':
    case 'file':
    case 'reasoning-file':
    case 'source':
    case 'custom':
      answer.parts.push(part);
      return;
    case 'stream-start':
      answer.warnings.push(...part.warnings);
      return;
    case 'response-metadata':
      answer.responseId = part.id ?? answer.responseId;
      return;
    case 'finish':
      answer.finish = part;
      return;
    case 'tool-approval-request':
      throw brokenAnswer('wants a person to approve a tool that the provider runs', { retryable: false });
    case 'error':
      throw part.error;
  }
}
