import type { ToolSet } from 'ai';
import type { ModelRequest, ModelTurn } from '../model.contract.ts';
import { assistantParts, type CallPart } from './assistant-parts.ts';
import { CallIds } from './call-ids.ts';
import { filePart } from './file-part.ts';
import { isOf } from './part-origin.ts';
import type { SdkPrompt, SdkToolResult, SdkUserPart } from './sdk-types.ts';
import { toolResult } from './tool-result.ts';

/** The provider that a history is written for. */
export interface PromptTarget {
  provider: string;
  /** Tools of the SDK that shape what a model is shown of their outputs. */
  tools: ToolSet;
}

/** A call that was asked for, with the id under which it is sent. */
interface SentCall {
  call: CallPart;
  toolCallId: string;
}

/**
 * The instructions and the history as a model of the SDK takes them. What users say between two answers is one message, and so are
 * the results of one answer's calls; what holds nothing is left out.
 */
export async function toPrompt(
  { instructions, turns }: Pick<ModelRequest, 'instructions' | 'turns'>,
  target: PromptTarget,
): Promise<SdkPrompt> {
  const prompt: SdkPrompt = instructions.trim() === '' ? [] : [{ role: 'system', content: instructions }];
  const ids = new CallIds();
  let sent = new Map<number, SentCall>();
  for (const turn of turns) {
    if (turn.role === 'tool') {
      addResult(prompt, await resultOf(turn, sent, target));
    } else if (turn.role === 'assistant') {
      sent = new Map(callsOf(turn, ids, target).map((one) => [one.call.ordinal, one]));
      const idOf = ({ ordinal }: CallPart) => sent.get(ordinal)?.toolCallId ?? '';
      const content = assistantParts(turn, { provider: target.provider, idOf });
      if (content.length > 0) prompt.push({ role: 'assistant', content });
    } else {
      addToUser(prompt, turn.role === 'system' ? notice(turn) : userParts(turn));
    }
  }
  return prompt;
}

function callsOf({ turnIndex, parts }: ModelTurn, ids: CallIds, { provider }: PromptTarget): SentCall[] {
  const calls = parts.filter((part) => part.type === 'toolCall');
  return calls.map((call) => {
    const { ordinal, providerCallId } = call;
    return { call, toolCallId: ids.next({ turnIndex, ordinal, providerCallId, isOwn: isOf(provider, call) }) };
  });
}

async function resultOf(
  { answers, ...turn }: ModelTurn,
  sent: ReadonlyMap<number, SentCall>,
  target: PromptTarget,
): Promise<SdkToolResult[]> {
  const answered = answers === undefined ? undefined : sent.get(answers.ordinal);
  if (answers === undefined || answered === undefined) return []; // Its call lies before the window: no provider takes it alone.
  return [await toolResult({ ...turn, answers }, { ...answered, ...target })];
}

function addResult(prompt: SdkPrompt, results: SdkToolResult[]): void {
  const last = prompt.at(-1);
  if (last?.role === 'tool') last.content.push(...results);
  else if (results.length > 0) prompt.push({ role: 'tool', content: results });
}

function addToUser(prompt: SdkPrompt, content: SdkUserPart[]): void {
  const last = prompt.at(-1);
  if (last?.role === 'user') last.content.push(...content);
  else prompt.push({ role: 'user', content });
}

/** Something that happened outside the conversation. Few providers take a system message between the others. */
function notice({ text }: ModelTurn): SdkUserPart[] {
  return [{ type: 'text', text: `[Notice of the system, not of the user] ${text}` }];
}

function userParts({ text, parts }: ModelTurn): SdkUserPart[] {
  const content = parts.flatMap((part): SdkUserPart[] => {
    if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
    const file = part.type === 'file' ? filePart(part) : null;
    return file === null ? [] : [file];
  });
  if (content.length > 0) return content;
  // Providers refuse a message that holds nothing.
  return [{ type: 'text', text: text.trim() === '' ? '[an empty message]' : text }];
}
