import { describe, expect, test } from 'vitest';
import type { TurnPart } from '../../machines/event-content.ts';
import type { TurnRow } from '../../persistence/row-changes.ts';
import { toModelTurns } from '../../runtime/model-turns.ts';
import { callContent, calledTools, messaged, planned, replied, result, settled } from '../machines/sample-events.ts';
import { projectEvents } from '../persistence/project-events.ts';

function call(ordinal: number, providerCallId: string | null): TurnPart {
  return { type: 'toolCall', ordinal, toolName: 'refund', input: {}, providerCallId, executionId: `call-${ordinal}` };
}

/** Two turns with calls; the provider used the same ids in both. */
function history(): TurnRow[] {
  const first = calledTools(
    planned(0, { ordinals: [0, 2] }),
    planned(1, { content: callContent({ paramsDigest: 'b' }) }),
  );
  const second = calledTools(planned(0, { executionId: 'call-9' }));
  const parts = [call(0, 'id-0'), call(1, 'id-1'), call(2, 'id-2')];
  const events = [
    messaged,
    { ...first, content: { ...first.content, parts: [{ type: 'text' as const, text: 'Let me see' }, ...parts] } },
    settled(
      result('call-0'),
      result('call-1', { outcome: 'failed', content: { error: { code: 'X', message: 'no' } } }),
    ),
    { ...second, content: { ...second.content, parts: [call(0, 'id-0')] } },
    settled(result('call-9', { outcome: 'timedOut', content: {} })),
    replied,
  ];
  return projectEvents(...events).ledger.turns;
}

describe('the history that a model reads', () => {
  test('keeps index, role, text and parts of every turn', () => {
    const rows = history();
    const turns = toModelTurns(rows);
    expect(turns.map(({ turnIndex, role, text }) => [turnIndex, role, text])).toEqual(
      rows.map(({ turnIndex, role, content }) => [turnIndex, role, content]),
    );
    expect(turns[1]?.parts).toEqual(rows[1]?.parts);
  });

  test('C32 each tool turn names the call that it answers, by place and by the id of its own turn', () => {
    const answers = toModelTurns(history()).flatMap((turn) => (turn.answers ? [turn.answers] : []));
    expect(answers).toEqual([
      { ordinal: 0, toolName: 'refund', outcome: 'succeeded', providerCallId: 'id-0' },
      { ordinal: 1, toolName: 'refund', outcome: 'failed', providerCallId: 'id-1' },
      { ordinal: 2, toolName: 'refund', outcome: 'succeeded', providerCallId: 'id-2' },
      { ordinal: 0, toolName: 'refund', outcome: 'unknown', providerCallId: 'id-0' },
    ]);
  });

  test('C06 an unknown outcome is told as unknown', () => {
    const unknown = toModelTurns(history()).find((turn) => turn.answers?.outcome === 'unknown');
    expect(unknown?.text).toContain('outcome of this call is unknown');
  });

  test('only tool turns answer', () => {
    for (const turn of toModelTurns(history())) expect(turn.answers !== undefined).toBe(turn.role === 'tool');
  });

  test('C28 every call has its answer before the next message', () => {
    let open = 0;
    for (const { role, parts } of toModelTurns(history())) {
      if (role === 'tool') open -= 1;
      else expect(open).toBe(0);
      open += parts.filter((part) => part.type === 'toolCall').length;
    }
    expect(open).toBe(0);
  });

  test('a session without turns is an empty history', () => {
    expect(toModelTurns([])).toEqual([]);
  });
});
