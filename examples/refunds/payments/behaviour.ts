/** Where something goes wrong with a refund: before it is booked, or between that and the answer. */
const FAULTS = ['none', 'failBefore', 'failAfter', 'loseBefore', 'loseAfter', 'hangBefore', 'hangAfter'] as const;
export type Fault = (typeof FAULTS)[number];

/** How the service behaves: for all that follows with `PUT /behaviour`, for one request with the header `payments-behaviour`. */
export interface Behaviour {
  /** Whether a key that was seen before books nothing and gets the refund of then. Default true. */
  honoursKeys: boolean;
  /** Whether a request is refused whose fencing token is lower than an earlier one of its scope. Default false. */
  checksTokens: boolean;
  /** Whether it says what was refunded, when it is asked. Default true. */
  tellsRefunds: boolean;
  /** Milliseconds that pass before a refund is booked. Default 0. */
  beforeMs: number;
  /** Milliseconds that pass between that and the answer. Default 0. */
  afterMs: number;
  /**
   * `fail…` answers 503, `lose…` breaks the connection, `hang…` waits until `POST /release` and then goes on as if nothing had been, whoever
   * is still there. Default none. What comes after counts for a question about an order too.
   */
  fault: Fault;
  /** How many refunds, and questions about orders, fault and waiting times are for; `null`, the default: all. */
  times: number | null;
}

/** Nothing goes wrong. */
export const GOOD: Behaviour = {
  honoursKeys: true,
  checksTokens: false,
  tellsRefunds: true,
  beforeMs: 0,
  afterMs: 0,
  fault: 'none',
  times: null,
};

/** `base` with `changes`, a JSON object. @throws TypeError for what no behaviour has. */
export function changed(base: Behaviour, changes: unknown): Behaviour {
  if (typeof changes !== 'object' || changes === null) throw new TypeError('a behaviour is an object');
  const behaviour = { ...base, ...changes };
  for (const [name, value] of Object.entries(behaviour)) {
    if (!(name in GOOD)) throw new TypeError(`no behaviour has ${name}`);
    const wanted = name === 'times' ? ['number', 'object'] : [typeof GOOD[name as keyof Behaviour]];
    if (!wanted.includes(typeof value)) throw new TypeError(`${name}: wanted ${wanted.join(' or ')}`);
  }
  if (!FAULTS.includes(behaviour.fault)) throw new TypeError(`no fault is named ${behaviour.fault}`);
  return behaviour;
}

/** The behaviour of the next refund, and the one that stands after it. */
export function consumed(behaviour: Behaviour): Behaviour {
  if (behaviour.times === null) return behaviour;
  if (behaviour.times > 1) return { ...behaviour, times: behaviour.times - 1 };
  const { fault, beforeMs, afterMs, times } = GOOD;
  return { ...behaviour, fault, beforeMs, afterMs, times };
}
