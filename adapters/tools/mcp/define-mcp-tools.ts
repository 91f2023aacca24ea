import { TurnlockError } from '../../../errors.ts';
import { defineTool } from '../define-tool.ts';
import type { Tool, ToolEffect } from '../tool.contract.ts';
import { callMcpTool } from './call-mcp-tool.ts';
import type { McpConnection } from './mcp-connection.ts';
import type { ListedTool, Listing } from './mcp-listing.ts';
import { mcpInputSchema, mcpOutputSchema } from './mcp-schemas.ts';
import type { McpSettings } from './mcp-settings.ts';
import { checkDistinct, mcpToolName } from './mcp-tool-name.ts';

/** How freely a call is repeated; a tool must not become less so than it was when it was defined. */
const FREEDOM: Readonly<Record<string, number>> = { readOnly: 2, idempotent: 1, nonRepeatable: 0 };

/**
 * The tools of a listing as tools of an agent.
 *
 * @throws DEFINITION_INVALID when `tools` or `include` name what the server does not have, two names fall together, or a tool cannot be
 * called as it is. TOOL_NAME_INVALID for a name that was given.
 */
export function defineMcpTools(settings: McpSettings, connection: McpConnection, listing: Listing): Tool[] {
  const taken = takenOf(settings, listing);
  for (const name of Object.keys(settings.tools ?? {})) {
    if (!taken.some((listed) => listed.name === name)) throw notThere(settings, name, 'tools', taken);
  }
  const names = new Map(taken.map(({ name }) => [name, nameOf(settings, name)]));
  checkDistinct(settings.name, names);
  return taken.map((listed) => defineMcpTool(settings, connection, listed));
}

/** The tools that `include` takes, in the order of the listing. */
function takenOf({ name, include, ...settings }: McpSettings, listing: Listing): ListedTool[] {
  const all = [...listing.values()];
  if (include === undefined) return all;
  const missing = include.find((one) => !listing.has(one));
  if (missing !== undefined) throw notThere({ name, ...settings }, missing, 'include', all);
  return all.filter((listed) => include.includes(listed.name));
}

/** The class of a tool by what the server says of it, if that is believed. Who says that reading destroys is not. */
function effectOf({ trustAnnotations = false }: McpSettings, { annotations }: ListedTool): ToolEffect {
  if (!trustAnnotations) return 'nonRepeatable';
  const { readOnlyHint, destructiveHint } = annotations;
  if (readOnlyHint === true) return destructiveHint === true ? 'nonRepeatable' : 'readOnly';
  return annotations.idempotentHint === true ? 'idempotent' : 'nonRepeatable';
}

function nameOf({ tools = {}, prefix = '' }: McpSettings, name: string): string {
  const given = Object.hasOwn(tools, name) ? tools[name]?.name : undefined;
  return given === undefined ? mcpToolName(name, prefix) : prefix + given;
}

function defineMcpTool(settings: McpSettings, connection: McpConnection, listed: ListedTool): Tool {
  const { tools = {}, name: server } = settings;
  const { name: _, ...given } = Object.hasOwn(tools, listed.name) ? (tools[listed.name] ?? {}) : {};
  const name = nameOf(settings, listed.name);
  if (listed.isTask) throw refused(server, listed.name, 'a tool that runs as a task', 'Leave it out by `include`.');
  if ((given.effect as string) === 'transactional') {
    throw refused(
      server,
      listed.name,
      "effect: 'transactional'",
      'What acts in another process is in no transaction of ours.',
    );
  }
  const effect = effectOf(settings, listed);
  const refusal = (client: { listing: Listing }): string | null => {
    const now = client.listing.get(listed.name);
    if (now === undefined) return `The MCP server ${server} has no tool ${listed.name} any more. Nothing was sent.`;
    if (given.effect !== undefined || isAsFree(effectOf(settings, now), effect)) return null;
    return `The MCP server ${server} no longer says that ${listed.name} is ${effect}. Nothing was sent.`;
  };
  const outputSchema = mcpOutputSchema(name, listed.outputSchema);
  const tool = defineTool({
    description: listed.description,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(given.effect === undefined ? { ...given, effect } : given),
    name,
    inputSchema: mcpInputSchema(name, listed.inputSchema),
    execute: (params, context) => callMcpTool({ connection, server, tool: listed.name, refusal }, params, context),
  });
  // The server may change it at any time, and validates what it is sent.
  return { ...tool, hasForeignSchema: true };
}

function isAsFree(now: ToolEffect, before: ToolEffect): boolean {
  return (FREEDOM[now] ?? 0) >= (FREEDOM[before] ?? 0);
}

function notThere({ name }: McpSettings, tool: string, option: string, there: readonly ListedTool[]): TurnlockError {
  const names = there.map((listed) => listed.name).join(', ');
  return new TurnlockError('DEFINITION_INVALID', {
    message: `no such tool of the MCP server ${name}: ${JSON.stringify(tool)} in \`${option}\` (found ${names || 'none'})`,
  });
}

function refused(server: string, tool: string, found: string, hint: string): TurnlockError {
  return new TurnlockError('DEFINITION_INVALID', {
    message: `tool of the MCP server ${server} not accepted: ${tool} (found ${found})`,
    hint,
  });
}
