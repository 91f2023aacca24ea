import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import type { RememberedKind } from './memory.contract.ts';
import { checkKinds, checkMemoryOption } from './memory-kinds.ts';
import type { Policy } from './policy.ts';
import type { Tool } from './tool.contract.ts';

/** What `rememberTool` takes. */
export interface RememberToolOptions {
  /** Default `remember`. */
  name?: string;
  /** What the model is told of when to remember. */
  description?: string;
  /** What it may remember. Default: preferences, facts and episodes. */
  kinds?: readonly RememberedKind[];
  /** Characters of one memory, at most: a whole number from 1 on, default 2 000. */
  maxCharacters?: number;
  /** Judges each call, as of `defineTool`. Default: all may. */
  policy?: Policy<{ kind: RememberedKind; content: string }>;
}

const DESCRIPTION =
  'Remember something about the user beyond this conversation: a preference, a fact, or what happened. One thing at a time, in one sentence that can be understood alone. Nothing that matters to this conversation only, and no secrets.';

const KINDS: readonly RememberedKind[] = ['preference', 'fact', 'episode'];

/**
 * A tool by which a model remembers something of its user. The memory is stored by the commit that settles the call: there is neither a
 * memory without its call nor a call that succeeded without its memory, wherever the process dies.
 *
 * @throws TOOL_NAME_INVALID, DEFINITION_INVALID.
 */
export function rememberTool(options: RememberToolOptions = {}): Tool {
  const { name = 'remember', description = DESCRIPTION, kinds = KINDS, maxCharacters = 2_000, policy } = options;
  checkKinds(name, kinds);
  checkMemoryOption(
    Number.isInteger(maxCharacters) && maxCharacters > 0,
    name,
    'maxCharacters',
    'a whole number from 1 on',
  );
  return defineTool({
    name,
    description,
    effect: 'transactional',
    onRepeat: 'answer',
    ...(policy === undefined ? {} : { policy }),
    inputSchema: z.object({
      kind: z.enum(kinds as [RememberedKind, ...RememberedKind[]]),
      content: z.string().trim().min(1).max(maxCharacters),
    }),
    execute: async ({ kind, content }, { memory }) => await memory.remember({ kind, content }),
  });
}
