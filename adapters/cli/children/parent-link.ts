import { flushCompileCache } from 'node:module';
import { carryError } from './carry-error.ts';
import type { Methods, Notices, Question, Told } from './child-messages.ts';

/** The child's end of the channel to the process that started it. */
export interface ParentLink<Telling extends Notices> {
  /** Resolves once the channel has taken it. */
  tell<Name extends keyof Telling & string>(notice: Name, value: Telling[Name]): Promise<void>;
}

/**
 * Answers the parent's questions with `methods`, several at a time. The process ends when its parent is gone, so nothing outlives it.
 * Ctrl-C in a terminal reaches all processes: what it means is the parent's to say.
 */
export function linkToParent<Telling extends Notices>(methods: Methods): ParentLink<Telling> {
  process.on('disconnect', () => process.exit());
  process.on('SIGINT', () => undefined);
  flushCompileCache(); // what was loaded serves the next process too, also when this one is killed
  process.on('message', (question: Question) => void answer(methods, question));
  return { tell: (notice, value) => send({ notice, value }) };
}

async function answer(methods: Methods, question: Question): Promise<void> {
  try {
    const value = await methods[question.ask]?.(question.with);
    await send({ answers: question.id, value });
  } catch (error) {
    await send({ answers: question.id, error: carryError(error) });
  }
}

function send(told: Told): Promise<void> {
  return new Promise((resolve) => process.send?.(told, () => resolve()) ?? resolve());
}
