import type { Model } from '../../adapters/models/model.contract.ts';
import { TurnlockError } from '../../errors.ts';
import { tokensOf } from '../../machines/tokens-of.ts';
import type { CommittedSession } from '../../persistence/committed-session.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { normaliseText } from '../../persistence/values/normalise-text.ts';
import { checkAnswer } from '../check-answer.ts';
import type { CountTokens } from '../context/count-tokens.ts';
import { cutToTokens } from '../context/cut-to-tokens.ts';
import type { SummaryRequest } from './summary-request.ts';

/** One question of a summariser. */
interface Asked {
  session: Pick<CommittedSession, 'tenantId' | 'userId' | 'sessionId'>;
  /** Stands for the run: a summary belongs to none. */
  taskId: string;
  attempt: number;
  request: SummaryRequest;
  model: Model;
  countTokens: CountTokens;
}

/**
 * What a model makes of a conversation: text that is not empty, cut to the tokens that it may have. Holds no connection; ends with `closing`
 * and after `limits.modelTimeoutMs`.
 *
 * @throws MODEL_FAILED for an answer that is none, or is empty, and for none in time; whatever the model throws.
 */
export async function askForSummary(
  { environment, limits }: Store,
  { session, taskId, attempt, request, model, countTokens }: Asked,
  closing: AbortSignal,
): Promise<{ text: string; tokens: number }> {
  const { tenantId, userId, sessionId } = session;
  const over = new AbortController();
  const timeout = new AbortController();
  const signal = AbortSignal.any([closing, timeout.signal]);
  const late = environment.sleep(limits.modelTimeoutMs, over.signal).then(() => {
    const error = failed(model, `did not answer in time (found nothing after ${limits.modelTimeoutMs} ms)`);
    timeout.abort(error);
    throw error;
  });
  late.catch(() => undefined);
  const closed = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: over.signal });
    if (signal.aborted) reject(signal.reason);
  });
  closed.catch(() => undefined);
  const { text } = request;
  const turns = [{ turnIndex: 0, role: 'user' as const, text, parts: [{ type: 'text' as const, text }] }];
  const whose = { tenantId, userId, sessionId, runId: taskId, attempt };
  try {
    await environment.faultPoint('beforeEffect', { sessionId, detail: 'summary' });
    const answer = (async () =>
      model.generate(
        { instructions: request.instructions, turns, tools: [], ...whose },
        { signal, emit: () => undefined },
      ))();
    answer.catch(() => undefined);
    const response = checkAnswer(await Promise.race([answer, late, closed]), model.modelId);
    await environment.faultPoint('afterEffect', { sessionId, detail: 'summary' });
    const { maxMemoryBytes: maxBytes } = limits;
    const said = normaliseText(response.text ?? '', { maxBytes, name: 'summary' }, 'truncate').value.trim();
    const kept = cutToTokens(said, request.maxTokens, countTokens);
    if (kept === '') throw failed(model, 'made no summary (found an empty answer, wanted text)');
    return { text: kept, tokens: tokensOf(response.usage ?? {}) };
  } finally {
    over.abort();
  }
}

function failed(model: Model, what: string): TurnlockError {
  return new TurnlockError('MODEL_FAILED', { message: `model ${what}: ${model.modelId}` });
}
