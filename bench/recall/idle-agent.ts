import { scripted } from '../../adapters/models/scripted.ts';
import { defineAgent } from '../../index.ts';

/** An agent that nobody asks: a runtime has at least one. */
export const idleAgent = defineAgent({
  name: 'idle',
  model: scripted('Done.'),
  instructions: 'Do nothing.',
  tools: [],
});
