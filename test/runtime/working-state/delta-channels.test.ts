import { describe } from 'vitest';
import { inProcessDeltas } from '../../../index.ts';
import { carriedDeltas } from './carried-deltas.ts';
import { deltaChannelSuite } from './delta-channel-suite.ts';

describe('the channel within a process', () => {
  deltaChannelSuite(() => {
    const channel = inProcessDeltas();
    return { here: channel, there: channel, carried: async () => undefined };
  });
});

describe('a channel between processes, as tests have it', () => {
  deltaChannelSuite(carriedDeltas);
});
