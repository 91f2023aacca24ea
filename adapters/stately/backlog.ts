/** Messages that whoever comes late hears. */
const MAX_MESSAGES = 200;

/** Definitions of sessions that are kept beside them. */
const MAX_ACTORS = 100;

/** What a relay keeps for whoever comes late: the definitions of the sessions of late, and the last messages. */
export class Backlog {
  readonly #actors = new Map<string, string>();
  readonly #messages: string[] = [];

  /** Keeps `text`; `false` where it is no message of the inspector. */
  take(text: string): boolean {
    const message = parse(text);
    if (message === null) return false;
    if (message.type === '@xstate.actor') {
      this.#actors.delete(message.sessionId);
      this.#actors.set(message.sessionId, text);
      if (this.#actors.size > MAX_ACTORS) this.#actors.delete(this.#actors.keys().next().value ?? '');
    } else {
      this.#messages.push(text);
      if (this.#messages.length > MAX_MESSAGES) this.#messages.shift();
    }
    return true;
  }

  texts(): string[] {
    return [...this.#actors.values(), ...this.#messages];
  }
}

function parse(text: string): { type: string; sessionId: string } | null {
  try {
    const { type, sessionId } = JSON.parse(text) as { type?: unknown; sessionId?: unknown };
    const isMessage = typeof type === 'string' && type.startsWith('@xstate.') && typeof sessionId === 'string';
    return isMessage ? { type, sessionId } : null;
  } catch {
    return null;
  }
}
