import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

/** A result of `tools/call` as far as it is understood. */
interface CallResult {
  content?: unknown;
  structuredContent?: unknown;
  isError?: unknown;
}

type Part = Record<string, unknown>;

/**
 * What a server answered, as the output of a call: the text where there is nothing but text, the structured content where the rest only
 * repeats it, otherwise the parts. Bytes (images, sound, files) are left out, and said by size and hash. What is no result as the
 * protocol has it stands as it came: the tool has run.
 */
export function mcpOutput(result: unknown): unknown {
  const given = (result ?? {}) as CallResult;
  const { structuredContent, content = structuredContent === undefined ? undefined : [] } = given;
  if (!Array.isArray(content) || !content.every(isPart)) return result;
  const parts = content.map(withoutBytes);
  if (structuredContent === undefined) return outputOf(parts);
  const rest = parts.filter((part) => !repeats(part, structuredContent));
  return rest.length === 0 ? structuredContent : { structuredContent, content: rest };
}

/** The text of a result that says of itself that the tool failed; `null` for any other. */
export function mcpFailure(result: unknown): string | null {
  const { isError, content, structuredContent } = (result ?? {}) as CallResult;
  if (isError !== true) return null;
  const texts = Array.isArray(content) ? content.filter(isText).map(({ text }) => text) : [];
  if (texts.length > 0) return texts.join('\n');
  const rest = structuredContent ?? mcpOutput({ content });
  return rest === null || rest === undefined ? 'The tool failed and did not say why.' : JSON.stringify(rest);
}

function outputOf(parts: Part[]): unknown {
  if (parts.length === 0) return null;
  return parts.every(isPlainText) ? parts.map(({ text }) => text).join('\n') : parts;
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(part: unknown): part is { text: string } {
  return isPart(part) && part.type === 'text' && typeof part.text === 'string';
}

function isPlainText(part: Part): part is { type: 'text'; text: string } {
  return isText(part) && Object.keys(part).length === 2;
}

/** A server that has structured content also writes it as text, for clients that do not know it. */
function repeats(part: Part, structuredContent: unknown): boolean {
  if (!isText(part)) return false;
  try {
    return isDeepStrictEqual(JSON.parse(part.text), structuredContent);
  } catch {
    return false;
  }
}

/** A part as JSON that a model can read: bytes by size and hash. What is meant for clients alone (`_meta`) is not for it. */
function withoutBytes({ _meta, ...part }: Part): Part {
  if (part.type === 'resource' && isPart(part.resource)) {
    const { _meta: _, blob, ...resource } = part.resource;
    return { ...part, resource: typeof blob === 'string' ? { ...resource, ...omitted(blob) } : resource };
  }
  if (typeof part.data !== 'string') return part;
  const { data, ...rest } = part;
  return { ...rest, ...omitted(data as string) };
}

function omitted(base64: string): { omittedBytes: number; sha256: string } {
  const bytes = Buffer.from(base64, 'base64');
  return { omittedBytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}
