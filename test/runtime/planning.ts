import type { StandardSchemaV1 } from '@standard-schema/spec';
import { defineTool } from '../../adapters/tools/define-tool.ts';
import type { InputSchema, Tool } from '../../adapters/tools/tool.contract.ts';
import { systemEnvironment } from '../../environment.ts';
import { type Limits, resolveLimits } from '../../limits.ts';
import { defineAgent } from '../../runtime/define-agent.ts';
import type { Planning } from '../../runtime/describe-call.ts';

/** What planning needs of a drive, with executions that are called `call-0`, `call-1` … */
export function planningWith(tools: Tool[], limits: Partial<Limits> = {}): Planning {
  let calls = 0;
  const model = { modelId: 'none', generate: async () => ({}) };
  return {
    agent: defineAgent({ name: 'agent', model, instructions: '', tools }),
    limits: resolveLimits(limits),
    session: { depth: 0 } as Planning['session'],
    signal: new AbortController().signal,
    environment: { ...systemEnvironment, uuid: () => `call-${calls++}` },
  };
}

/** A tool whose validator does what `validate` says. */
export function toolThat(
  validate: (value: unknown) => unknown,
  options: { name?: string; repeatable?: boolean } = {},
): Tool {
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: validate as StandardSchemaV1['~standard']['validate'],
      jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
    },
  } as InputSchema;
  return defineTool({ name: 'tool', description: '', inputSchema: schema, execute: () => null, ...options });
}

/** A tool that takes everything as it is. */
export function anyTool(options: { name?: string; repeatable?: boolean } = {}): Tool {
  return toolThat((value) => ({ value }), options);
}
