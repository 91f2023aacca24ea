import type { LentConnection, WireAnswer } from '../../../adapters/databases/wire.contract.ts';

/** A connection that answers by rule and remembers what it was sent. */
export interface FakeWire extends LentConnection {
  readonly sent: string[];
  /** How it was given back, once for each time. */
  readonly givenBack: { isBroken: boolean }[];
}

/** What the database answers to a text; an Error is thrown. Absent: an answer whose tag is the text's first word. */
export type Rule = (sql: string) => Partial<WireAnswer> | Error | Promise<Partial<WireAnswer>> | undefined;

/** Makes a wire that answers by `rule`. */
export function fakeWire(rule: Rule = () => undefined): FakeWire {
  const sent: string[] = [];
  const givenBack: { isBroken: boolean }[] = [];
  return {
    sent,
    givenBack,
    giveBack: (state) => void givenBack.push(state),
    wire: {
      query: () => Promise.reject(new Error('no tool has this connection')),
      async send(sql) {
        sent.push(sql);
        const answer = await rule(sql);
        if (answer instanceof Error) throw answer;
        return { rows: [], command: sql.split(' ', 1)[0]!.toUpperCase(), rowCount: null, warned: false, ...answer };
      },
    },
  };
}

/** An error as the database sends it. */
export function databaseError(code: string, severity = 'ERROR'): Error {
  return Object.assign(new Error(`database error ${code}`), { code, severity });
}
