/** Messages that whoever comes late hears. */
const MAX_MESSAGES = 200;

/** Definitions of sessions that are kept beside them. */
const MAX_ACTORS = 100;

/** Characters of all that is kept, beyond which the oldest messages are let go, then the oldest definitions. */
const MAX_CHARACTERS = 8_388_608;

/** What is kept for whoever comes late: the definitions of the sessions of late, and the last messages. */
export class Backlog {
  readonly #maxMessages: number;
  readonly #actors = new Map<string, string>();
  #messages: string[] = [];
  #characters = 0;

  constructor(maxMessages = MAX_MESSAGES) {
    this.#maxMessages = maxMessages;
  }

  /** Keeps `text`; of others than definitions nothing where `definitionsOnly`. `false` where it is no message of the inspector. */
  take(text: string, { definitionsOnly = false } = {}): boolean {
    const message = parse(text);
    if (message === null) return false;
    if (message.type === '@xstate.actor') {
      this.#letGo(message.sessionId);
      this.#actors.set(message.sessionId, text);
      this.#characters += text.length;
    } else if (!definitionsOnly) {
      this.#messages.push(text);
      this.#characters += text.length;
    }
    while (this.#messages.length > this.#maxMessages || this.#isTooLong(this.#messages.length)) {
      this.#characters -= this.#messages.shift()?.length ?? 0;
    }
    while (this.#actors.size > MAX_ACTORS || this.#isTooLong(this.#actors.size)) {
      this.#letGo(this.#actors.keys().next().value ?? '');
    }
    return true;
  }

  /** What is kept, definitions first. */
  texts(): string[] {
    return [...this.#actors.values(), ...this.#messages];
  }

  /** Lets the messages go; the definitions stay. */
  clearMessages(): void {
    for (const { length } of this.#messages) this.#characters -= length;
    this.#messages = [];
  }

  #isTooLong(count: number): boolean {
    return count > 0 && this.#characters > MAX_CHARACTERS;
  }

  #letGo(sessionId: string): void {
    this.#characters -= this.#actors.get(sessionId)?.length ?? 0;
    this.#actors.delete(sessionId);
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
