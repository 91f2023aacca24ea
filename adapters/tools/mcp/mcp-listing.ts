import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';
import { TurnlockError } from '../../../errors.ts';

/** A tool as a server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Record<string, unknown>;
  /** Of its structured content. */
  readonly outputSchema?: unknown;
  readonly annotations: {
    readonly readOnlyHint?: unknown;
    readonly idempotentHint?: unknown;
    readonly destructiveHint?: unknown;
  };
  /** Whether it can only be called as a task, which answers later and elsewhere. */
  readonly isTask: boolean;
}

/** What a server has, by name, as it lists it. */
export type Listing = ReadonlyMap<string, ListedTool>;

const MAX_TOOLS = 1_000;
const MAX_PAGES = 100;

/** A tool whose schema is no object is refused when it is used: one that is left out harms nobody. */
const PAGE = z.looseObject({
  tools: z.array(
    z.looseObject({
      name: z.string().min(1),
      description: z.string().catch(''),
      inputSchema: z.record(z.string(), z.unknown()).catch({}),
      outputSchema: z.unknown().optional(),
      annotations: z.looseObject({}).catch({}),
      execution: z.looseObject({ taskSupport: z.unknown().optional() }).optional().catch(undefined),
    }),
  ),
  nextCursor: z.string().optional(),
});

/** Reads the whole list, page by page. @throws TOOL_SERVER_FAILED when it has no end, or holds a name twice. */
export async function readListing(client: Client, server: string, timeoutMs: number): Promise<Listing> {
  const listing = new Map<string, ListedTool>();
  if (client.getServerCapabilities()?.tools === undefined) return listing;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, PAGE, { timeout: timeoutMs });
    for (const tool of tools) {
      if (listing.has(tool.name)) throw failed(server, `the name ${JSON.stringify(tool.name)} twice`);
      listing.set(tool.name, { ...tool, isTask: tool.execution?.taskSupport === 'required' });
    }
    if (listing.size > MAX_TOOLS) break;
    if (nextCursor === undefined) return listing;
    cursor = nextCursor;
  }
  throw failed(server, `more than ${MAX_TOOLS} tools, or ${MAX_PAGES} pages`);
}

function failed(server: string, found: string): TurnlockError {
  return new TurnlockError('TOOL_SERVER_FAILED', {
    message: `list of tools not accepted: of the MCP server ${server} (found ${found})`,
    retryable: false,
  });
}
