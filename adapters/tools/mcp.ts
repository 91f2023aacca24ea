// The entry turnlock/mcp: tools of MCP servers, with the official SDK.
export { mcp } from './mcp/mcp.ts';
export type { McpServer, McpSettings, McpToolSettings } from './mcp/mcp-settings.ts';
export type { McpHttp, McpStdio } from './mcp/mcp-transport.ts';
