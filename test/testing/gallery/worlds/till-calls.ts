import fc from 'fast-check';
import { ORDER_CURRENCIES } from './till.ts';

/** Refunds in the currency of their order, as both versions of the tool take them. */
export const tillCalls = fc
  .tuple(fc.constantFrom(...Object.entries(ORDER_CURRENCIES)), fc.constantFrom(20, 30))
  .map(([[orderId, currency], cents]) => ({ orderId, currency, cents, note: null }));
