import { isDeepStrictEqual } from 'node:util';
import type { Listing } from './mcp-listing.ts';
import type { McpSettings } from './mcp-settings.ts';

/** What is said of a list that is another than the one the tools were made from. */
export interface Change {
  code: 'MCP_TOOL_REMOVED' | 'MCP_TOOL_CHANGED' | 'MCP_TOOL_ADDED';
  message: string;
}

/** What has changed at the server since `before`, in a sentence for each tool that is taken. */
export function changesOf({ name: server, include }: McpSettings, before: Listing, now: Listing): Change[] {
  const changes: Change[] = [];
  const isTaken = (name: string) => include === undefined || include.includes(name);
  const say = (code: Change['code'], message: string) => changes.push({ code, message });
  for (const [name, tool] of before) {
    if (!isTaken(name)) continue;
    const other = now.get(name);
    if (other === undefined) {
      say('MCP_TOOL_REMOVED', `The MCP server ${server} has no tool ${name} any more: calls of it fail.`);
    } else if (!isDeepStrictEqual([other.inputSchema, other.annotations], [tool.inputSchema, tool.annotations])) {
      say(
        'MCP_TOOL_CHANGED',
        `The MCP server ${server} has another schema or other annotations for its tool ${name}: models are still told the former.`,
      );
    }
  }
  for (const name of now.keys()) {
    if (isTaken(name) && !before.has(name))
      say('MCP_TOOL_ADDED', `The MCP server ${server} has a new tool ${name}: refresh() to take it.`);
  }
  return changes;
}
