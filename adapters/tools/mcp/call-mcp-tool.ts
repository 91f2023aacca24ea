import { isTurnlockError, type TurnlockError } from '../../../errors.ts';
import type { ToolContext } from '../tool.contract.ts';
import { ToolError } from '../tool-error.ts';
import type { McpConnection } from './mcp-connection.ts';
import { mcpFailure, mcpOutput } from './mcp-output.ts';
import type { CallParams, OpenClient } from './open-client.ts';
import { RequestFate } from './request-fate.ts';

/** What a call needs to know of its tool. */
export interface Called {
  readonly connection: McpConnection;
  readonly server: string;
  /** As the server names it. */
  readonly tool: string;
  /** Why it must not be called as the server has it now; `null`: it may. */
  refusal(client: OpenClient): string | null;
}

/**
 * Codes of JSON-RPC and of the SDK by which nobody says that the tool did nothing: an internal error, and what gateways and the SDK call a
 * connection that was closed and a request that ran out of time.
 *
 * Source: jsonrpc.org/specification, 5.1; `ErrorCode` of the SDK.
 */
const UNKNOWN_CODES: readonly unknown[] = [-32_603, -32_000, -32_001];

/**
 * Calls a tool of an MCP server. Where the session that the server gave to the connection is gone, which it says before it does anything, it
 * is called once more over a new one.
 *
 * @throws ToolError: failed, with what the server said; failed with TOOL_SERVER_FAILED when nothing was sent or it was refused; unknown when
 * it was sent and no answer came, or the answer is an error inside the server.
 */
export async function callMcpTool(called: Called, params: unknown, context: ToolContext): Promise<unknown> {
  const first = await attempt(called, params, context);
  const last = first.verdict === 'gone' ? await attempt(called, params, context) : first;
  if (last.verdict !== 'answered') throw errorFor(called, last);
  const failure = mcpFailure(last.result);
  if (failure !== null) throw new ToolError(called.connection.withoutSecrets(failure));
  return mcpOutput(last.result);
}

/** What became of one request. */
type Ending =
  | { verdict: 'answered'; result: unknown }
  /**
   * The server said that it failed; it cannot have got it; it will not have it; it does not know the session that it gave; nothing is known.
   */
  | { verdict: Verdict; error: unknown };

type Verdict = 'failed' | 'unsent' | 'refused' | 'gone' | 'unknown';

async function attempt({ connection, tool, refusal }: Called, params: unknown, context: ToolContext): Promise<Ending> {
  const client = await connection.client(context.signal).catch((error: unknown) => {
    if (context.signal.aborted) throw error;
    return error as TurnlockError;
  });
  if (client instanceof Error) return { verdict: 'unsent', error: client };
  const refused = refusal(client);
  if (refused !== null) throw new ToolError(refused);
  const fate = new RequestFate();
  try {
    const result = await client.call(requestOf(tool, params, context), fate, context.signal);
    connection.noteAnswer();
    return { verdict: 'answered', result };
  } catch (error) {
    if (context.signal.aborted) throw error;
    const verdict = verdictOf(error, fate, client);
    if (verdict === 'failed') connection.noteAnswer();
    if (verdict === 'gone') await connection.drop(client);
    return { verdict, error };
  }
}

function requestOf(name: string, params: unknown, { idempotencyKey, fencingToken, attempt }: ToolContext): CallParams {
  return {
    name,
    arguments: params as Record<string, unknown>,
    _meta: {
      'turnlock/idempotencyKey': idempotencyKey,
      'turnlock/fencingToken': fencingToken,
      'turnlock/attempt': attempt,
    },
  };
}

function verdictOf(error: unknown, fate: RequestFate, client: OpenClient): Verdict {
  const { name, message, code } = error as { name?: string; message?: string; code?: unknown };
  if (message === 'Not connected') return 'gone';
  if (fate.isUnsent) return 'unsent';
  if (client.isClosed || fate.isBroken) return 'unknown';
  const { status } = fate;
  // A server that does not know the session it gave has not looked at the request: 404 says so by the protocol. Without a session it is
  // the answer to the request itself, as 400 always is, and what was sent once is not sent again.
  if (status === 404 && client.hasSession) return 'gone';
  if (status === 429) return 'unsent';
  if (status !== null && status >= 400 && status < 500 && status !== 408) return 'refused';
  const isAnswer = name === 'McpError' && (status === null || status === 200);
  return isAnswer && !UNKNOWN_CODES.includes(code) ? 'failed' : 'unknown';
}

function errorFor({ connection, server, tool }: Called, ending: Exclude<Ending, { verdict: 'answered' }>): ToolError {
  const { verdict, error } = ending;
  if (verdict === 'failed') {
    return new ToolError(connection.withoutSecrets(error instanceof Error ? error.message : String(error)));
  }
  if (verdict === 'unknown') {
    return new ToolError(
      `The MCP server ${server} got a call of ${tool} and did not say what came of it: ${connection.reasonOf(error)}`,
      { outcome: 'unknown' },
    );
  }
  const { message } = isTurnlockError(error) ? error : connection.failed(error);
  return new ToolError(`${message} Nothing was done.`, { retryable: verdict === 'unsent', code: 'TOOL_SERVER_FAILED' });
}
