import type { ToolContext } from '../../../../index.ts';

/** A text as it was saved, and the token of the process that saved it. */
export interface SavedDraft {
  sessionId: string;
  key: string;
  token: number;
  text: string;
}

/** Keeps the draft of each session: the last one that was saved. */
export class Drafts {
  readonly saved: SavedDraft[] = [];

  /** Saves whatever comes, whoever it comes from. */
  save(text: string, { sessionId, idempotencyKey: key, fencingToken: token }: ToolContext): void {
    this.saved.push({ sessionId, key, token, text });
  }

  /** Refuses who has lost the session to somebody that has saved since. */
  saveFenced(text: string, context: ToolContext): void {
    const ofSession = this.saved.filter(({ sessionId }) => sessionId === context.sessionId);
    if (ofSession.some(({ token }) => token > context.fencingToken)) throw new Error('the session has another holder');
    this.save(text, context);
  }

  /** What a person finds who looks for what a call saved. */
  settle(key: string): { outcome: 'succeeded'; output: unknown } | { outcome: 'failed' } {
    const draft = this.saved.find((one) => one.key === key);
    return draft === undefined ? { outcome: 'failed' } : { outcome: 'succeeded', output: { saved: draft.text } };
  }

  /** No draft was saved over one of a process that took the session over. */
  isInTheOrderOfTheTokens(): boolean | string {
    const late = this.saved.find((draft, index) =>
      this.saved.slice(0, index).some(({ sessionId, token }) => sessionId === draft.sessionId && token > draft.token),
    );
    return late === undefined || `saved by a process that had lost the session: ${JSON.stringify(late.text)}`;
  }
}
