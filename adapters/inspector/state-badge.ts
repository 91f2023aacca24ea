import type { SessionState } from '../../machines/session-state.ts';
import { type Html, inAttribute, markup } from './html.ts';

/** What each state is called for people, and how urgent it looks. */
export const STATE_WORDS: Readonly<Record<SessionState, { text: string; tone: Tone }>> = {
  IDLE: { text: 'Idle', tone: 'quiet' },
  PLANNING: { text: 'Planning', tone: 'busy' },
  EXECUTING_TOOL: { text: 'Running a tool', tone: 'busy' },
  AWAITING_INPUT: { text: 'Waiting for a person', tone: 'asks' },
  COMPLETED: { text: 'Completed', tone: 'good' },
  FAILED: { text: 'Failed', tone: 'bad' },
};

/** How something looks: never by colour alone, its text says the same. */
export type Tone = 'quiet' | 'busy' | 'asks' | 'good' | 'bad';

/** A short word in a frame. */
export function badge(text: string, tone: Tone, title?: string): Html {
  return markup`<span class="badge badge-${tone}" title="${title ?? text}">${text}</span>`;
}

/** A session's state. */
export function stateBadge(state: SessionState): Html {
  // A row that somebody has broken may name a state that is none.
  const { text, tone } = STATE_WORDS[state] ?? { text: inAttribute(state), tone: 'bad' };
  return badge(text, tone, inAttribute(state));
}
