/** One way in which the demonstration plays. */
export interface Scenario {
  number: 1 | 2;
  /** What the refund tool declares: all that the two differ in. */
  effect: 'idempotent' | 'nonRepeatable';
  /** The agent whose refund tool declares it. */
  agent: string;
  /** What that declaration says. */
  says: string;
}

/** Both, in the order in which they are played. */
export const SCENARIOS: readonly [Scenario, Scenario] = [
  {
    number: 1,
    effect: 'idempotent',
    agent: 'support',
    says: 'a repeat does no harm, since the receiver knows the key',
  },
  {
    number: 2,
    effect: 'nonRepeatable',
    agent: 'careful-support',
    says: 'a repeat may do harm, so a person looks first',
  },
];

/** What the customer writes. */
export function complaint(orderId: string): string {
  return `Order ${orderId} arrived broken. I would like my money back.`;
}
