import type { Tool } from '../tool.contract.ts';
import { checkMcpSettings, isHttp } from './check-mcp-settings.ts';
import { defineMcpTools } from './define-mcp-tools.ts';
import { McpConnection } from './mcp-connection.ts';
import type { Listing } from './mcp-listing.ts';
import type { McpServer, McpSettings } from './mcp-settings.ts';
import type { OpenClient } from './open-client.ts';
import { changesOf } from './tell-changes.ts';
import { unfailingWarning } from './unfailing-warning.ts';

/**
 * Connects to an MCP server and resolves to its tools. The connection lasts, and keeps the process alive, until it is closed; when it
 * is lost, the next call makes another.
 *
 * Nothing is known of what a repeat of such a tool would do: each is `nonRepeatable` unless `tools` or `trustAnnotations` says more. Its
 * server gets the idempotency key in `_meta`, as `turnlock/idempotencyKey`. A call whose request went out and whose answer did not come
 * is no failure: its outcome is unknown, and its class decides.
 *
 * @throws OPTIONS_INVALID for options that are none. TOOL_SERVER_FAILED when there is no connection, or no list of tools.
 * @throws DEFINITION_INVALID, TOOL_NAME_INVALID for tools that cannot be taken as they are; then the server is closed again.
 *
 * @example
 * await using files = await mcp({
 *   name: 'files',
 *   transport: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/data'] },
 *   tools: { read_text_file: { effect: 'readOnly' }, write_file: { effect: 'idempotent', timeoutMs: 10_000 } },
 *   prefix: 'files_',
 * });
 * const clerk = defineAgent({ name: 'clerk', model: scripted(['done']), instructions: 'Keep the files.', tools: files.tools });
 */
export async function mcp(settings: McpSettings): Promise<McpServer> {
  checkMcpSettings(settings);
  const held = holdingOf(settings);
  const warn = unfailingWarning(held.onWarning);
  let known: Listing | null = null;
  const connection = new McpConnection(held, {
    onListed({ listing }) {
      if (known === null) return;
      for (const { code, message } of changesOf(held, known, listing)) warn(code, message);
      known = listing;
    },
    warn,
  });
  const take = (client: OpenClient): readonly Tool[] => {
    const made = Object.freeze(defineMcpTools(held, connection, client.listing));
    known = client.listing;
    return made;
  };
  let tools: readonly Tool[];
  try {
    tools = take(await connection.client());
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    name: held.name,
    get tools() {
      return tools;
    },
    async refresh() {
      const client = await connection.client();
      await client.list().catch((error: unknown) => {
        throw connection.failed(error);
      });
      tools = take(client);
      return tools;
    },
    close: () => connection.close(),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

/** What the caller changes later changes nothing here. */
function holdingOf(settings: McpSettings): McpSettings {
  const { transport, tools = {}, include } = settings;
  return {
    ...settings,
    transport: copyOf(transport),
    tools: Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, { ...tool }])),
    ...(include === undefined ? {} : { include: [...include] }),
  };
}

function copyOf(transport: McpSettings['transport']): McpSettings['transport'] {
  if (isHttp(transport)) return { ...transport, url: new URL(transport.url), headers: { ...transport.headers } };
  return { ...transport, args: [...(transport.args ?? [])], env: { ...transport.env } };
}
