import type { ToolSet } from 'ai';
import type { Json } from '../../../machines/event-content.ts';
import type { ModelTurn } from '../model.contract.ts';
import { type CallPart, toolNameOf } from './assistant-parts.ts';
import { optionsFor } from './part-origin.ts';
import type { SdkToolResult } from './sdk-types.ts';

type ToolOutput = SdkToolResult['output'];

/** A tool turn as a model takes it, with the id under which its call is sent. */
export async function toolResult(
  turn: ModelTurn & { answers: NonNullable<ModelTurn['answers']> },
  { call, toolCallId, provider, tools }: { call: CallPart; toolCallId: string; provider: string; tools: ToolSet },
): Promise<SdkToolResult> {
  return {
    type: 'tool-result',
    toolCallId,
    toolName: toolNameOf(call),
    output: await outputOf(turn, { input: call.input, toolCallId, tools }),
    ...optionsFor(provider, call),
  };
}

/** Only what is known to have failed is told as an error: after an unknown outcome the model must not believe that nothing happened. */
async function outputOf(
  { text, answers }: { text: string; answers: NonNullable<ModelTurn['answers']> },
  { input, toolCallId, tools }: { input: Json; toolCallId: string; tools: ToolSet },
): Promise<ToolOutput> {
  if (answers.outcome === 'failed') return { type: 'error-text', value: text };
  if (answers.outcome === 'unknown') return { type: 'text', value: text };
  const shape = Object.hasOwn(tools, answers.toolName) ? tools[answers.toolName]?.toModelOutput : undefined;
  const output = jsonOf(text);
  if (shape !== undefined) return (await shape({ toolCallId, input, output: output ?? text })) as ToolOutput;
  return typeof output === 'object' && output !== null
    ? { type: 'json', value: output as Extract<ToolOutput, { type: 'json' }>['value'] }
    : { type: 'text', value: text };
}

/** The output that the text of a tool turn stands for, where it was no text itself. */
function jsonOf(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}
