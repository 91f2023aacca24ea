import type { ToolDefinition } from '../define-tool.ts';
import type { InputSchema, OutputSchema, Tool } from '../tool.contract.ts';
import type { McpHttp, McpStdio } from './mcp-transport.ts';

/** Params of a tool of an MCP server: an object. */
export type McpParams = Record<string, unknown>;

/** Every option of a tool but what its server says, one class of tools after the other. */
type Said<Definition> = Definition extends unknown
  ? Omit<Definition, 'name' | 'description' | 'inputSchema' | 'execute'>
  : never;

/** What a server does not say of a tool, or is not believed: every option of `defineTool` but `inputSchema` and `execute`. */
export type McpToolSettings = Said<ToolDefinition<InputSchema<McpParams>, OutputSchema | undefined>> & {
  /** The name that the model sees, without the prefix. Default: that of the server, other characters than `A-Za-z0-9_-` as `_`. */
  name?: string;
  /** Default: that of the server. */
  description?: string;
};

/** What `mcp` takes. */
export interface McpSettings {
  /** What errors and warnings call the server. */
  name: string;
  transport: McpStdio | McpHttp;
  /** Settings of single tools, by the name that the server gives them. */
  tools?: Readonly<Record<string, McpToolSettings>>;
  /**
   * Whether what the server says of its tools is believed: `readOnlyHint` makes a tool `readOnly`, `idempotentHint` makes it
   * `idempotent`. A wrong hint repeats an act. Default false: every tool is `nonRepeatable` unless `tools` says otherwise.
   */
  trustAnnotations?: boolean;
  /** Put before the name of each tool. Default: nothing. */
  prefix?: string;
  /** Names, as the server gives them, of the tools that are taken. Default: all. */
  include?: readonly string[];
  /** Milliseconds for a connection, with the list of tools: a whole number from 1 to 600,000. Default 10,000. */
  connectTimeoutMs?: number;
  /** Told of changes at the server and of connections that are lost; what it throws is ignored. Default: `process.emitWarning`. */
  onWarning?: (warning: { code: string; message: string }) => void;
}

/** An MCP server whose tools an agent can call. */
export interface McpServer {
  readonly name: string;
  /** Its tools, as they were when it was connected or last refreshed. For `defineAgent`. */
  readonly tools: readonly Tool[];
  /**
   * Lists the tools anew and resolves to them, which `tools` holds from then on. Agents that have the former ones keep them: pass the
   * new ones to a new `defineAgent` and `createRuntime`.
   *
   * @throws as `mcp` does; then everything stays as it was.
   */
  refresh(): Promise<readonly Tool[]>;
  /**
   * Ends the connection, and the process where one was started: by the end of its input, two seconds later by SIGTERM, and by SIGKILL
   * after two more. Calls that are out then have an unknown outcome: close the runtime first. Closing it again does nothing.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
