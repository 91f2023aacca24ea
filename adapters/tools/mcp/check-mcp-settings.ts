import { TurnlockError } from '../../../errors.ts';
import type { McpSettings } from './mcp-settings.ts';
import type { McpHttp, McpStdio } from './mcp-transport.ts';

const OPTIONS = [
  'name',
  'transport',
  'tools',
  'trustAnnotations',
  'prefix',
  'include',
  'connectTimeoutMs',
  'onWarning',
];
const STDIO_OPTIONS = ['command', 'args', 'env', 'cwd', 'stderr'];
const HTTP_OPTIONS = ['url', 'headers', 'fetch'];
const MAX_CONNECT_TIMEOUT_MS = 600_000;

/** @throws OPTIONS_INVALID when an option of `mcp` is not of its kind, or not one of these. */
export function checkMcpSettings(settings: McpSettings): void {
  check(isRecord(settings), 'settings', 'an object');
  const { name, transport, tools, trustAnnotations, prefix, include, connectTimeoutMs, onWarning } = settings;
  known(settings, OPTIONS, '');
  check(typeof name === 'string' && name.trim() !== '' && name.length <= 64, 'name', '1 to 64 characters');
  check(isRecord(transport), 'transport', '{ command } or { url }');
  if (isHttp(transport)) checkHttp(transport);
  else checkStdio(transport);
  check(tools === undefined || (isRecord(tools) && Object.values(tools).every(isRecord)), 'tools', 'objects by name');
  check(trustAnnotations === undefined || typeof trustAnnotations === 'boolean', 'trustAnnotations', 'true or false');
  check(prefix === undefined || /^[A-Za-z0-9_-]{0,32}$/.test(prefix), 'prefix', 'up to 32 of A-Z a-z 0-9 _ -');
  check(include === undefined || isTexts(include), 'include', 'an array of names');
  check(
    connectTimeoutMs === undefined ||
      (Number.isInteger(connectTimeoutMs) && connectTimeoutMs >= 1 && connectTimeoutMs <= MAX_CONNECT_TIMEOUT_MS),
    'connectTimeoutMs',
    `a whole number from 1 to ${MAX_CONNECT_TIMEOUT_MS}`,
  );
  check(onWarning === undefined || typeof onWarning === 'function', 'onWarning', 'a function');
}

/** Whether the server is reached by HTTP. */
export function isHttp(transport: McpStdio | McpHttp): transport is McpHttp {
  return 'url' in transport;
}

function checkStdio(transport: McpStdio): void {
  known(transport, STDIO_OPTIONS, 'transport.');
  const { command, args, env, cwd, stderr } = transport;
  check(typeof command === 'string' && command !== '', 'transport.command', 'the name of a program');
  check(args === undefined || isTexts(args), 'transport.args', 'an array of texts');
  check(env === undefined || (isRecord(env) && isTexts(Object.values(env))), 'transport.env', 'texts by name');
  check(cwd === undefined || typeof cwd === 'string', 'transport.cwd', 'a path');
  check(
    stderr === undefined || stderr === 'ignore' || stderr === 'inherit',
    'transport.stderr',
    "'ignore' or 'inherit'",
  );
}

function checkHttp(transport: McpHttp): void {
  known(transport, HTTP_OPTIONS, 'transport.');
  const { headers } = transport;
  const url = URL.parse(String(transport.url));
  check(url !== null && /^https?:$/.test(url.protocol), 'transport.url', 'an http or https URL');
  check(url?.username === '' && url.password === '', 'transport.url', 'no name and no password, but headers');
  check(
    headers === undefined || (isRecord(headers) && isTexts(Object.values(headers))),
    'transport.headers',
    'texts by name',
  );
  check(headers === undefined || areHeaders(headers), 'transport.headers', 'names and values that HTTP can send');
  check(transport.fetch === undefined || typeof transport.fetch === 'function', 'transport.fetch', 'a function');
}

/** What `Headers` says against one names its value, which may be a secret. */
function areHeaders(headers: Readonly<Record<string, string>>): boolean {
  try {
    new Headers(headers);
    return true;
  } catch {
    return false;
  }
}

function known(given: object, options: readonly string[], place: string): void {
  const stray = Object.keys(given).find((option) => !options.includes(option));
  check(stray === undefined, `${place}${stray}`, `only ${options.join(', ')}`);
}

function isTexts(values: unknown): boolean {
  return Array.isArray(values) && values.every((value) => typeof value === 'string');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function check(holds: boolean, option: string, wanted: string): void {
  if (holds) return;
  throw new TurnlockError('OPTIONS_INVALID', { message: `option of mcp not accepted: ${option} (wanted ${wanted})` });
}
