import type { TurnlockErrorJson } from '../../../errors.ts';

/** What one process of ours can be asked: names with their question and answer, both JSON. */
// biome-ignore lint/suspicious/noExplicitAny: the bound of a map of functions; every use names its own
export type Methods = { [name: string]: (question: any) => Promise<unknown> };

/** What one process of ours tells without being asked: names with what comes with them. */
export type Notices = { [name: string]: unknown };

/** From the parent. */
export interface Question {
  id: number;
  ask: string;
  with: unknown;
}

/** How an error crosses a pipe. */
export type CarriedError = { known: TurnlockErrorJson } | { unknown: string };

/** To the parent. */
export type Told = { answers: number; value?: unknown; error?: CarriedError } | { notice: string; value: unknown };
