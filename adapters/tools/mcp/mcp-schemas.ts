import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { TurnlockError } from '../../../errors.ts';
import type { InputSchema, OutputSchema } from '../tool.contract.ts';
import type { McpParams } from './mcp-settings.ts';

/**
 * The JSON Schema of a tool of an MCP server as input schema: the model sees it as it is, and params are validated against it.
 *
 * @throws DEFINITION_INVALID when it is no schema, or refers to what is not in it.
 */
export function mcpInputSchema(tool: string, schema: Record<string, unknown>): InputSchema<McpParams> {
  const validate = compile(tool, schema);
  const json = () => structuredClone(schema);
  return {
    '~standard': {
      version: 1,
      vendor: 'mcp',
      validate: (value) => {
        const { valid, errorMessage } = validate(value);
        return valid ? { value: value as McpParams } : { issues: [{ message: errorMessage ?? 'not accepted' }] };
      },
      jsonSchema: { input: json, output: json },
    },
  };
}

/**
 * The JSON Schema of a tool's structured content as output schema: it looks at that content, whatever else is said beside it. `undefined`
 * where the server has none, or one that is no schema: what is returned is then not looked at.
 */
export function mcpOutputSchema(tool: string, schema: unknown): OutputSchema | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const validate = attempt(() => compile(tool, schema as Record<string, unknown>));
  if (validate === undefined) return undefined;
  return {
    '~standard': {
      version: 1,
      vendor: 'mcp',
      validate: (value) => {
        const { valid, errorMessage } = validate(structuredContentOf(value));
        return valid ? { value } : { issues: [{ message: errorMessage ?? 'not accepted' }] };
      },
    },
  };
}

function structuredContentOf(output: unknown): unknown {
  const { structuredContent, content } = (output ?? {}) as { structuredContent?: unknown; content?: unknown };
  return structuredContent !== undefined && Array.isArray(content) ? structuredContent : output;
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

type Validator = (value: unknown) => { valid: boolean; errorMessage: string | undefined };

/** Each schema has a validator of its own: two tools may use one `$id`. */
function compile(tool: string, schema: Record<string, unknown>): Validator {
  try {
    return new AjvJsonSchemaValidator().getValidator(schema);
  } catch (cause) {
    throw new TurnlockError('DEFINITION_INVALID', {
      message: `schema not accepted: inputSchema of ${tool} (found ${cause instanceof Error ? cause.message : typeof cause})`,
      hint: 'Leave the tool out by `include`, or have its server corrected.',
      cause,
    });
  }
}
