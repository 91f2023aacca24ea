import fc from 'fast-check';

/** Refunds that a model may ask for: two orders, two amounts. */
export const refundCalls = fc.record({ orderId: fc.constantFrom('1', '2'), cents: fc.constantFrom(20, 30) });
