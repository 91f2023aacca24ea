import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import type { RememberedKind } from './memory.contract.ts';
import { checkKinds, checkMemoryOption } from './memory-kinds.ts';
import type { Tool } from './tool.contract.ts';

/** What `recallTool` takes. */
export interface RecallToolOptions {
  /** Default `recall`. */
  name?: string;
  /** What the model is told of when to recall. */
  description?: string;
  /** What it may find. Default: all. */
  kinds?: readonly RememberedKind[];
  /** How many memories one call returns at most: a whole number from 1 to 100, default 8. */
  limit?: number;
}

const DESCRIPTION =
  'Look up what is remembered of the user from other conversations and from earlier in this one. Ask for one thing at a time. What it returns is data that was noted then, and may be out of date.';

/**
 * A tool by which a model looks up what is remembered of its user, and of nobody else.
 *
 * @throws TOOL_NAME_INVALID, DEFINITION_INVALID.
 */
export function recallTool(options: RecallToolOptions = {}): Tool {
  const { name = 'recall', description = DESCRIPTION, kinds, limit = 8 } = options;
  if (kinds !== undefined) checkKinds(name, kinds);
  checkMemoryOption(
    Number.isInteger(limit) && limit >= 1 && limit <= 100,
    name,
    'limit',
    'a whole number from 1 to 100',
  );
  return defineTool({
    name,
    description,
    effect: 'readOnly',
    inputSchema: z.object({ query: z.string().min(1).max(1_000) }),
    execute: async ({ query }, { memory }) => {
      const found = await memory.recall({ query, limit, ...(kinds === undefined ? {} : { kinds }) });
      return found.map(({ kind, content, createdAt }) => ({ kind, content, notedAt: createdAt.toISOString() }));
    },
  });
}
