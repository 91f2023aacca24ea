import { systemEnvironment } from '../environment.ts';
import { TurnlockError } from '../errors.ts';
import { kindOf } from '../persistence/values/kind-of.ts';
import type { Subject, Truth } from './subject.ts';

/** Milliseconds of real time for which somebody may look at the world. */
const LOOK_MS = 5_000;

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
        : { people: { settle: async (world, call) => truthOf(await soon((async () => settle(world, call))())) } }),
    },
    checkNames: (isOver) => {
      const missing = called.find((name) => !names.has(name));
      if (missing === undefined || (processes < 2 && !isOver)) return;
      throw refused('calls', JSON.stringify(missing), `names of tools: ${[...names].join(', ')}`);
    },
  };
}

/** What was found by who looks at the world. @throws OPTIONS_INVALID where he is still looking after {@link LOOK_MS}. */
async function soon(look: Promise<unknown>): Promise<unknown> {
  const over = new AbortController();
  const late = systemEnvironment.sleep(LOOK_MS, over.signal).then(() => {
    throw refused('people.settle', `no answer within ${LOOK_MS / 1_000} seconds`, 'a truth');
  });
  try {
    return await Promise.race([look, late]);
  } finally {
    late.catch(() => undefined);
    over.abort();
  }
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
