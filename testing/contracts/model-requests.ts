import type {
  ModelRequest,
  ModelTool,
  ModelToolCall,
  ModelTurn,
  ToolOutcome,
} from '../../adapters/models/model.contract.ts';
import type { Json, TurnPart } from '../../machines/event-content.ts';

/** A turn whose place is not yet known. */
export type NewTurn = Omit<ModelTurn, 'turnIndex'>;

/** What the calls of the suite are of. */
export const TOOLS: ModelTool[] = [
  {
    name: 'lookUp',
    description: 'Looks an order up.',
    inputSchema: { type: 'object', properties: { order: { type: 'string' } } },
  },
  { name: 'note', description: 'Takes a note.', inputSchema: { type: 'object', properties: {} } },
];

/** A request with these turns. */
export function requestOf(turns: readonly NewTurn[], more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    instructions: 'Be brief.',
    turns: turns.map((turn, turnIndex) => ({ turnIndex, ...turn })),
    tools: [],
    tenantId: 'tenant',
    userId: 'user',
    sessionId: '00000000-0000-4000-8000-000000000001',
    runId: '00000000-0000-4000-8000-000000000002',
    attempt: 1,
    ...more,
  };
}

/** A turn of the user. */
export function said(text: string): NewTurn {
  return { role: 'user', text, parts: [{ type: 'text', text }] };
}

/** An assistant turn with its calls, and the tool turn of each. `parts` are those before the calls. */
export function answeredTurns(
  calls: readonly ModelToolCall[],
  text: string,
  parts: readonly TurnPart[] = text === '' ? [] : [{ type: 'text', text }],
): NewTurn[] {
  const callParts = calls.map((call, ordinal) => callPart(call, ordinal));
  const results = calls.map(({ toolName, providerCallId }, ordinal) =>
    result({
      ordinal,
      toolName,
      providerCallId: providerCallId ?? null,
      outcome: OUTCOMES[ordinal % OUTCOMES.length] as ToolOutcome,
    }),
  );
  return [{ role: 'assistant', text, parts: [...parts, ...callParts] }, ...results];
}

const OUTCOMES: readonly ToolOutcome[] = ['succeeded', 'failed', 'unknown'];

/** A conversation with everything that a valid one may hold: also what another model made, and ids that are missing or doubled. */
export function historyOfEveryKind(): NewTurn[] {
  const calls: ModelToolCall[] = [
    { toolName: 'lookUp', input: { order: '42' }, providerCallId: 'call_1' },
    { toolName: 'note', input: {}, providerCallId: 'call_1' },
    { toolName: 'lookUp', input: {}, providerCallId: '' },
    { toolName: 'gone', input: { a: [1] } },
    { toolName: 'lookUp', input: {}, invalidInput: '{"order": ' },
  ];
  const parts: TurnPart[] = [
    { type: 'reasoning', text: 'reasons of another', providerMetadata: { other: { signature: 'Eq+/==' } } },
    { type: 'text', text: 'I look.' },
    { type: 'source', sourceType: 'url', id: 'source_1', url: 'https://example.com/a' },
    { type: 'custom', part: { type: 'custom', kind: 'other.note' }, providerMetadata: { other: { a: 1 } } },
  ];
  return [
    said('message-one'),
    said('message-two'),
    ...answeredTurns(calls, 'I look.', parts),
    { role: 'system', text: 'a late result', parts: [{ type: 'text', text: 'a late result' }] },
    { role: 'assistant', text: '', parts: [] },
    said('message-three'),
    ...answeredTurns([{ toolName: 'note', input: {}, providerCallId: 'call_1' }], ''),
  ];
}

function callPart(call: ModelToolCall, ordinal: number): TurnPart {
  const { toolName, input, providerCallId, invalidInput, providerMetadata } = call;
  return {
    type: 'toolCall',
    ordinal,
    toolName,
    input: invalidInput === undefined ? (input as Json) : {},
    ...(invalidInput === undefined ? {} : { rawInput: invalidInput }),
    providerCallId: providerCallId ?? null,
    executionId: `00000000-0000-4000-8000-0000000001${String(ordinal).padStart(2, '0')}`,
    ...(providerMetadata === undefined ? {} : { providerMetadata }),
  };
}

/** The tool turn of a call, as the runtime writes it. */
function result(answers: NonNullable<ModelTurn['answers']>): NewTurn {
  const text = `result-${answers.ordinal}-${answers.outcome}`;
  const { ordinal, toolName, outcome } = answers;
  const part = { type: 'toolResult', ordinal, toolName, outcome } as unknown as TurnPart; // no part of an answer
  return { role: 'tool', text, parts: [part], answers };
}
