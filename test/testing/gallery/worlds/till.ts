/** A payment in a currency, for an order that was paid in one. */
export interface TillPayment {
  key: string;
  orderId: string;
  currency: string;
}

/** The currency in which each order was paid. */
export const ORDER_CURRENCIES: Readonly<Record<string, string>> = { '1': 'EUR', '2': 'JPY' };

/** Pays orders back in whatever currency it is told, once for each key. */
export class Till {
  readonly payments: TillPayment[] = [];

  pay(payment: TillPayment): void {
    if (!this.payments.some(({ key }) => key === payment.key)) this.payments.push(payment);
  }

  /** Each order was paid back in the currency in which it was paid. */
  paysInTheCurrencyOfTheOrder(): boolean | string {
    const other = this.payments.find(({ orderId, currency }) => ORDER_CURRENCIES[orderId] !== currency);
    return other === undefined || `order ${other.orderId} was paid back in ${other.currency}`;
  }
}
