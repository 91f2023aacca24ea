import type { Transcript } from './transcript.ts';

/** One message of the recorded user and whether the recording has the agent's last word on it. */
export interface Exchange {
  text: string;
  /** Without it the recording ends, or the user speaks again, while the agent is at work: the run is cancelled there. */
  isAnswered: boolean;
}

/** What the recorded user says, in order. */
export function exchangesOf({ turns }: Transcript): Exchange[] {
  return turns.flatMap((turn, index) => {
    if (turn.role !== 'user') return [];
    const next = turns.findIndex(({ role }, later) => later > index && role === 'user');
    const last = turns[(next < 0 ? turns.length : next) - 1];
    return [{ text: turn.text, isAnswered: last?.role === 'assistant' }];
  });
}
