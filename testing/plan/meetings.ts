import type { Command, MessageCommand } from './plan.ts';

/** Two messages to one session, of which the second may come while the call of the first is under way. */
type Meeting = (first: MessageCommand, second: MessageCommand) => Command[];

const meanwhile = (message: MessageCommand): MessageCommand => ({ ...message, isOvertaken: true });
const interrupts = (message: MessageCommand): MessageCommand => ({ ...message, isBySql: true, whenBusy: 'interrupt' });

/** What clients do about a session that is at work, or has been: what they hear is Turnlock's own business, whatever the tools are. */
export const MEETINGS: readonly Meeting[] = [
  (first, second) => [meanwhile(first), interrupts(second)],
  (first, second) => [meanwhile(first), meanwhile(interrupts(second)), { type: 'linger' }],
  (first, second) => [{ ...first, isBySql: true }, second],
  (first, second) => [{ ...meanwhile(first), isFinal: true }, second],
  (first) => [
    meanwhile(first),
    { type: 'resume', session: first.session, process: 2 },
    { type: 'sendAgain', message: 1 },
  ],
];
