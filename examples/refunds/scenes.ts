/** What is played: one call of one tool, whose worker is killed in the middle of it, and what must come of it. */
export interface Scene {
  effect: string;
  /** What the customer writes: a tool, an order, a sum. */
  message: string;
  /** What makes this class what it is. */
  because: string;
  /** Requests that the payments service must have seen, and refunds that it must have booked. */
  requests: number;
  refunds: number;
  /** Whether a person must have been asked. */
  asksPerson: boolean;
  /** What the agent must hear of the tool in the end. */
  hears: string;
}

export const SCENES: readonly Scene[] = [
  {
    effect: 'readOnly',
    message: 'lookUpOrder 41',
    because: 'a question changes nothing',
    requests: 2,
    refunds: 0,
    asksPerson: false,
    hears: 'a vase',
  },
  {
    effect: 'idempotent',
    message: 'refund 42 4900',
    because: 'the receiver books once for each key',
    requests: 2,
    refunds: 1,
    asksPerson: false,
    hears: 'R-1001',
  },
  {
    effect: 'transactional',
    message: 'credit 45 990',
    because: 'the write and the record of it are one commit',
    requests: 0,
    refunds: 0,
    asksPerson: false,
    hears: 'the account has 990',
  },
  {
    effect: 'reconcilable',
    message: 'refundByBank 43 3150',
    because: 'the receiver can be asked what it did',
    requests: 2, // the refund, and the question
    refunds: 1,
    asksPerson: false,
    hears: 'R-1002',
  },
  {
    effect: 'nonRepeatable',
    message: 'refundInCash 44 7425',
    because: 'nobody but a person can find out what happened',
    requests: 1,
    refunds: 1,
    asksPerson: true,
    hears: 'it was paid',
  },
];
