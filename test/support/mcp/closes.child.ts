import { mcp } from '../../../adapters/tools/mcp.ts';

/** Connects, calls a tool, closes, and has nothing else to do: it must end by itself. Argument: the transport as JSON. */

const server = await mcp({ name: 'world', transport: JSON.parse(process.argv[2] ?? ''), onWarning: () => undefined });
const controller = new AbortController();
const context = { idempotencyKey: 'k', fencingToken: 1, signal: controller.signal, attempt: 1 };
const call = (mode: string) => server.tools[0]?.execute({ mode }, context as never);
await call('text');
const hanging = Promise.resolve(call('hang')).catch((error: { code?: string }) => error.code);
await call('text');
await server.close();
process.stdout.write(`${JSON.stringify({ type: 'closed', hanging: await hanging })}\n`);
