import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { type ApprovalRule, requireApproval } from './policy.ts';
import type { Tool } from './tool.contract.ts';

/** What `askUser` takes. */
export interface AskUserOptions extends Pick<ApprovalRule, 'expiresInMs' | 'onExpiry'> {
  /** Default `askUser`. */
  name?: string;
  /** What the model is told of when to ask. */
  description?: string;
}

const DESCRIPTION =
  'Ask the user a question, and wait for the answer. Use it when you cannot go on without knowing more.';

/**
 * A tool by which an agent asks its user: the session waits in AWAITING_INPUT, and the user's next message is the answer, as the output of
 * the call. `settle` answers it too.
 *
 * @throws TOOL_NAME_INVALID, DEFINITION_INVALID.
 */
export function askUser(options: AskUserOptions = {}): Tool {
  const { name = 'askUser', description = DESCRIPTION, ...rule } = options;
  const verdict = requireApproval(rule);
  const tool = defineTool({
    name,
    description,
    inputSchema: z.object({
      question: z.string().min(1).describe('The question, as the user reads it'),
      options: z.array(z.string()).optional().describe('Answers to choose from, where only some make sense'),
    }),
    effect: 'readOnly',
    policy: ({ question }) =>
      verdict.type === 'requireApproval' ? { ...verdict, asked: { ...verdict.asked, question } } : verdict,
    // Never called: its answer comes from the user.
    execute: () => null,
  });
  return { ...tool, isQuestion: true };
}
