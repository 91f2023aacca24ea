import { createHash } from 'node:crypto';
import { TurnlockError } from '../../../errors.ts';

const MAX_NAME = 64;

/**
 * The name under which a tool of an MCP server is known here: other characters become `_`, and one that is too long is cut and ends in
 * a part of its hash. The same name is the same each time.
 */
export function mcpToolName(name: string, prefix: string): string {
  const whole = prefix + name.replaceAll(/[^A-Za-z0-9_-]/gu, '_');
  if (whole.length <= MAX_NAME) return whole;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${whole.slice(0, MAX_NAME - hash.length - 1)}_${hash}`;
}

/** @throws DEFINITION_INVALID when two tools of the server have one name here. */
export function checkDistinct(server: string, names: ReadonlyMap<string, string>): void {
  const seen = new Map<string, string>();
  for (const [theirs, ours] of names) {
    const other = seen.get(ours);
    if (other !== undefined) {
      throw new TurnlockError('DEFINITION_INVALID', {
        message: `two tools of the MCP server ${server} have one name here: ${ours} (found ${JSON.stringify(other)} and ${JSON.stringify(theirs)})`,
        hint: 'Name one of them in `tools`: { name }, or leave one out by `include`.',
      });
    }
    seen.set(ours, theirs);
  }
}
