/** What the outside world offers to whoever is not sure: it knows keys, it can be asked what it did, or neither. */
export const RECEIVERS = ['keys', 'lookUp', 'neither'] as const;
export type Receiver = (typeof RECEIVERS)[number];

/** Where the process dies. */
export const KILL_POINTS = ['beforeTheAct', 'onTheWay', 'afterTheAct', 'afterTheRecord'] as const;
export type KillPoint = (typeof KILL_POINTS)[number];

/** What one process is told. */
export interface PeerTask {
  /** Database of the framework. */
  database: string;
  /** Where the payments service listens. */
  payments: string;
  receiver: Receiver;
  /** Names the conversation in the framework: of a thread, a workflow, a session. */
  name: string;
  orderId: string;
  /** `set`: only makes the tables. `go`: begins the conversation. `resume`: goes on with it, as the framework's documentation says. */
  does: 'set' | 'go' | 'resume';
  /** Where it stops and waits for its end, beside those points at which the payments service holds it up. */
  stopAt: KillPoint | null;
}

/** The customer's message, which is the same everywhere. */
export const MESSAGE = 'My teapot arrived broken. Please refund it.';

/** What the refund comes to, in cents. */
export const CENTS = 4_900;
