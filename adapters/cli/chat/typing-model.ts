import { setTimeout as wait } from 'node:timers/promises';
import type { Model } from '../../models/model.contract.ts';
import { supportScript } from '../demo/support-script.ts';

/** Between two words, so that the reply comes as that of a model does. */
const WORD_MS = 20;

/** The demonstration's script as a model that answers word by word. */
export function typingModel(): Model {
  return {
    modelId: 'scripted-support',
    async generate(request, { signal, emit }) {
      const response = supportScript(request);
      for (const word of response.text?.match(/\s*\S+\s*/g) ?? []) {
        await wait(WORD_MS, undefined, { signal });
        emit({ type: 'text', text: word });
      }
      return { finishReason: response.toolCalls === undefined ? 'stop' : 'tool-calls', ...response };
    },
  };
}
