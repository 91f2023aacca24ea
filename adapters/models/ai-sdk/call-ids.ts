/** A call of the history, as its id is looked for. */
interface CallPlace {
  turnIndex: number;
  ordinal: number;
  /** The id with which the call came. */
  providerCallId: string | null;
  /** Whether it came from the provider that the id is for: its own ids are valid there. */
  isOwn: boolean;
}

/** Visible ASCII: what every transport carries. */
const SENDABLE = /^[\x21-\x7e]{1,128}$/;

/**
 * The ids that the calls of one request are sent with: each exists once, whatever the provider gave.
 *
 * A provider gets its own ids back, since it may look them up. An id that is empty, was already used in this history, or comes from
 * another provider, is replaced by one made of the call's place, nine letters and digits, which is what the strictest provider takes.
 * The same history gives the same ids, so that a provider's cache of the beginning stays good.
 */
export class CallIds {
  readonly #taken = new Set<string>();

  /** The id of one call. Ask in the order of the history, once for each call. */
  next({ turnIndex, ordinal, providerCallId, isOwn }: CallPlace): string {
    const usable =
      isOwn && providerCallId !== null && SENDABLE.test(providerCallId) && !this.#taken.has(providerCallId);
    const id = usable ? providerCallId : this.#made(turnIndex, ordinal);
    this.#taken.add(id);
    return id;
  }

  #made(turnIndex: number, ordinal: number): string {
    const made = `t${turnIndex.toString(36).padStart(5, '0')}${ordinal.toString(36).padStart(3, '0')}`;
    let id = made;
    for (let again = 1; this.#taken.has(id); again += 1) id = `${made}${again}`;
    return id;
  }
}
