import { scripted } from '../../../adapters/models/scripted.ts';
import { TurnlockError } from '../../../errors.ts';
import type { ModelUnderTest, ProviderAct } from '../../../testing/contracts/model-contract.ts';

/** A scripted model whose script is what a provider does. */
export function soundModel(act: ProviderAct): ModelUnderTest {
  const asked: unknown[] = [];
  const model = scripted((request, { signal }) => {
    asked.push(request);
    if (act.type === 'answers') {
      const { pieces, toolCalls, usage } = act.answer;
      return { text: pieces.join(''), toolCalls: [...toolCalls], usage };
    }
    if (act.type === 'fails') {
      throw new TurnlockError('MODEL_FAILED', { message: 'provider refused', retryable: act.isRetryable });
    }
    return new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  });
  return { model, asked: () => asked };
}
