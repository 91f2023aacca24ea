import { postgres } from '../../../../adapters/databases/postgres.ts';
import { mcp } from '../../../../adapters/tools/mcp.ts';
import { createRuntime } from '../../../../index.ts';
import { parentChannel } from '../../../support/child-channel.ts';
import { LIMITS, mcpAgent } from './mcp-agent.ts';

/** A process with an MCP server of its own, that sends a message to one session for each tool. Argument: a database's URL and a transport. */

const { url, transport } = JSON.parse(process.argv[2] ?? '');
const parent = parentChannel();
const { tools } = await mcp({ name: 'world', transport, trustAnnotations: true, connectTimeoutMs: 60_000 });
const agent = mcpAgent(tools);
const runtime = await createRuntime({ database: postgres(url), agents: [agent], migrate: 'check', limits: LIMITS });
for (const tool of ['charge', 'put']) {
  const who = { tenantId: 'tenant', userId: 'user', externalId: tool };
  await (await runtime.createSession({ agent: agent.name, ...who })).send(tool, { messageId: tool });
}
await parent.say('sent');
