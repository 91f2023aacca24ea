import { TurnlockError } from '../errors.ts';
import { kindOf } from '../persistence/values/kind-of.ts';
import type { Subject, Truth } from './subject.ts';

/** What is tested, and what is known of its tools by now. */
export interface CheckedSubject<World> {
  subject: Subject<World>;
  /** @throws OPTIONS_INVALID for calls of a tool that no process had, where there were several; `isOver`: also where there was one. */
  checkNames(isOver: boolean): void;
}

/** `subject`, whose functions are refused by name where they give what nothing could be played with. `called`: the tools that models ask for. */
export function checkedSubject<World>(subject: Subject<World>, called: readonly string[]): CheckedSubject<World> {
  const names = new Set<string>();
  let processes = 0;
  const { people } = subject;
  const settle = people?.settle;
  return {
    subject: {
      ...subject,
      world: () => {
        const world: unknown = subject.world();
        if (world instanceof Promise) throw refused('world', kindOf(world), 'a world that is there at once');
        return world as World;
      },
      tools: (world, process) => {
        const tools: unknown = subject.tools(world, process);
        if (!Array.isArray(tools)) throw refused('tools', kindOf(tools), 'an array of tools');
        processes = Math.max(processes, process.number);
        for (const { name } of tools) names.add(name);
        return tools;
      },
      ...(settle === undefined
        ? {}
        : { people: { settle: async (world, call) => truthOf(await settle(world, call)) } }),
    },
    checkNames: (isOver) => {
      const missing = called.find((name) => !names.has(name));
      if (missing === undefined || (processes < 2 && !isOver)) return;
      throw refused('calls', JSON.stringify(missing), `names of tools: ${[...names].join(', ')}`);
    },
  };
}

function truthOf(truth: unknown): Truth {
  const { outcome } = (truth ?? {}) as { outcome?: unknown };
  if (outcome === 'succeeded' || outcome === 'failed') return truth as Truth;
  throw refused('people.settle', outcome === undefined ? kindOf(truth) : JSON.stringify(outcome), 'a truth');
}

function refused(option: string, found: string, wanted: string): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: `option not accepted: ${option} of checkToolPolicy (found ${found}, wanted ${wanted})`,
  });
}
