import type { ToolSet } from 'ai';
import type { ModelTool } from '../model.contract.ts';
import type { SdkModelTool } from './sdk-types.ts';

type SdkFunctionTool = Extract<SdkModelTool, { type: 'function' }>;

/** The agent's tools as a model is told of them; what `sdkTools` says beyond name, description and schema goes with them. */
export function modelTools(tools: readonly ModelTool[], sdkTools: ToolSet): SdkModelTool[] {
  return tools.map(({ name, description, inputSchema }) => {
    const sdk = Object.hasOwn(sdkTools, name) ? sdkTools[name] : undefined;
    if (sdk?.type === 'provider') return { type: 'provider', id: sdk.id, name, args: sdk.args };
    return {
      type: 'function',
      name,
      description,
      inputSchema: inputSchema as SdkFunctionTool['inputSchema'],
      ...(sdk?.strict === undefined ? {} : { strict: sdk.strict }),
      ...(sdk?.inputExamples === undefined ? {} : { inputExamples: sdk.inputExamples }),
      ...(sdk?.providerOptions === undefined ? {} : { providerOptions: sdk.providerOptions }),
    };
  });
}
