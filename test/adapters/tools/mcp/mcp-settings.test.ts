import { expect, test } from 'vitest';
import { type McpSettings, mcp } from '../../../../adapters/tools/mcp.ts';

const transport = { url: 'http://127.0.0.1:9/mcp' };
const sound = { name: 'world', transport };

test.each<[string, unknown]>([
  ['settings', null],
  ['name', { ...sound, name: ' ' }],
  ['transport', { name: 'world' }],
  ['transport', { ...sound, transport: 'npx' }],
  ['transport.command', { ...sound, transport: {} }],
  ['transport.args', { ...sound, transport: { command: 'x', args: 'y' } }],
  ['transport.env', { ...sound, transport: { command: 'x', env: { A: 1 } } }],
  ['transport.cwd', { ...sound, transport: { command: 'x', cwd: 1 } }],
  ['transport.stderr', { ...sound, transport: { command: 'x', stderr: 'pipe' } }],
  ['transport.shell', { ...sound, transport: { command: 'x', shell: true } }],
  ['transport.url', { ...sound, transport: { url: 'ftp://host' } }],
  ['transport.url', { ...sound, transport: { url: 'http://ann:a-secret-word@host/' } }],
  ['transport.headers', { ...sound, transport: { ...transport, headers: { a: 1 } } }],
  ['transport.headers', { ...sound, transport: { ...transport, headers: { 'x-key': 'a-secret-word\nx' } } }],
  ['transport.headers', { ...sound, transport: { ...transport, headers: { 'x key': 'a' } } }],
  ['transport.fetch', { ...sound, transport: { ...transport, fetch: 1 } }],
  ['transport.command', { ...sound, transport: { ...transport, command: 'x' } }],
  ['tools', { ...sound, tools: [] }],
  ['tools', { ...sound, tools: { refund: 'idempotent' } }],
  ['trustAnnotations', { ...sound, trustAnnotations: 'yes' }],
  ['prefix', { ...sound, prefix: 'a b' }],
  ['include', { ...sound, include: 'refund' }],
  ['connectTimeoutMs', { ...sound, connectTimeoutMs: 0 }],
  ['connectTimeoutMs', { ...sound, connectTimeoutMs: 1e9 }],
  ['onWarning', { ...sound, onWarning: 1 }],
  ['trust', { ...sound, trust: true }],
])('%s is named where it is not accepted, and nothing of its value', async (option, settings) => {
  const error: unknown = await mcp(settings as McpSettings).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringContaining(`not accepted: ${option} (`),
  });
  expect(String(error)).not.toContain('a-secret-word');
});
