import { describe, expect, test } from 'vitest';
import { buildStory } from '../../../../adapters/cli/replay/build-story.ts';
import { endText, storyText, titleText } from '../../../../adapters/cli/replay/story-text.ts';
import type { SessionRecord } from '../../../../adapters/cli/session-record.ts';
import { coloursFor } from '../../../../adapters/cli/terminal.ts';
import { widthOf } from '../../../../adapters/cli/text-width.ts';
import type { SessionStory } from '../../../../persistence/read-session-story.ts';
import { EVERY_EVENT } from '../../../machines/random-events.ts';

const COLOURS = coloursFor(false);
const at = (ms: number) => new Date(Date.UTC(2026, 10, 29, 12) + ms);

const transition = (sequence: number, ms: number, event: { type: string }, more: object = {}) => ({
  ...{ sequence, from: 'PLANNING', to: 'IDLE', type: event.type, event, eventId: 'e', runId: 'run', cause: 'worker' },
  ...{
    by: (event as { by?: string }).by ?? null,
    holder: 'w',
    messageId: null,
    token: 1,
    turnIndexes: [],
    settled: [],
  },
  ...{ createdAt: at(ms), previousHash: '', hash: '', ...more },
});
const turn = (turnIndex: number, role: string, content: string, parts: object[] = []) => ({
  ...{ turnId: `t${turnIndex}`, turnIndex, role, content, parts, createdAt: at(0) },
});
const execution = (executionId: string, more: object) => ({
  ...{ executionId, turnId: 't1', toolName: 'refund', status: 'SUCCESS', attempt: 1, inputParameters: { n: 1 } },
  ...{ rawInput: null, upgradedVersion: null, outputPayload: null, errorMessage: null, metadata: {}, ...more },
});

/** A record with only what a story looks at. */
function record(parts: { transitions: object[]; turns?: object[]; executions?: object[] }): SessionRecord {
  const { transitions, turns = [], executions = [] } = parts;
  const overview = {
    sessionId: 's',
    tenantId: 'acme',
    userId: 'ann',
    agent: 'support',
    agentVersion: 1,
    state: 'IDLE',
  };
  const turnsOf = new Map(
    (transitions as { sequence: number; turnIndexes: number[] }[]).map((one) => [one.sequence, one.turnIndexes]),
  );
  return { overview, transitions, turns, executions, turnsOf } as unknown as SessionRecord;
}

const NOTHING: SessionStory = { modelCalls: [], rounds: [], evidence: [] };

const call = (executionId: string, ordinal: number, input: unknown) => ({
  ...{ type: 'toolCall', ordinal, toolName: 'refund', input, providerCallId: null, executionId },
});

const RECORD = record({
  transitions: [
    transition(1, 0, { type: 'user.messaged' }, { turnIndexes: [0] }),
    transition(
      2,
      1_200,
      {
        type: 'model.calledTools',
        calls: [
          { executionId: 'e1', verdict: 'ask' },
          { executionId: 'e2', verdict: 'ask' },
          { executionId: 'e3', verdict: 'settled', outcome: 'failed' },
        ],
      } as never,
      { turnIndexes: [1], settled: ['e3'] },
    ),
    transition(3, 126_200, { type: 'approval.amended', executionId: 'e1', by: 'bob' } as never),
    transition(4, 127_200, { type: 'approval.denied', executionId: 'e2', by: 'cleo' } as never, { settled: ['e2'] }),
    transition(5, 127_300, { type: 'worker.tookOver', holder: 'worker-2' } as never),
    transition(6, 127_400, { type: 'execution.started', executions: [{ executionId: 'e1', attempt: 1 }] } as never),
    transition(7, 127_780, {
      type: 'tool.attemptFailed',
      results: [{ executionId: 'e1', attempt: 1, retryInMs: 50 }],
    } as never),
    transition(8, 127_900, { type: 'execution.started', executions: [{ executionId: 'e1', attempt: 2 }] } as never),
    transition(
      9,
      128_280,
      { type: 'tool.settled', results: [{ executionId: 'e1', attempt: 2, outcome: 'succeeded' }] } as never,
      { settled: ['e1'] },
    ),
    transition(10, 129_000, { type: 'model.attemptFailed', retryInMs: 500 } as never),
    transition(11, 130_000, { type: 'model.replied' }, { turnIndexes: [2] }),
  ],
  turns: [
    turn(0, 'user', 'Refund both orders'),
    turn(1, 'assistant', 'I pay them back.', [call('e1', 0, { n: 1 }), call('e2', 1, { n: 2 }), call('e3', 2, 'x')]),
    turn(2, 'assistant', 'Done.\nOne of them was refused.'),
  ],
  executions: [
    execution('e1', { attempt: 2, inputParameters: { n: 9 }, outputPayload: { paid: true } }),
    execution('e2', { status: 'FAILED', attempt: 0, errorMessage: 'Not this one.' }),
    execution('e3', { status: 'FAILED', attempt: 0, toolName: 'no_such_tool', errorMessage: 'There is no such tool.' }),
  ],
});

const STORY: SessionStory = {
  modelCalls: [
    { latencyMs: 1_200, usage: { inputTokens: 120, outputTokens: 35 }, errorMessage: null },
    { latencyMs: 90, usage: {}, errorMessage: 'too busy' },
    { latencyMs: 700, usage: { totalTokens: 20 }, errorMessage: null, attempt: 2 },
  ].map((one) => ({
    runId: 'run',
    attempt: 1,
    modelId: 'gpt',
    windowTo: 0,
    finishReason: null,
    errorCode: null,
    ...one,
  })),
  rounds: ['e1', 'e2'].map((executionId) => ({
    ...{ executionId, round: 1, kind: 'approval', question: `May ${executionId} run?`, requestedAt: at(1_200) },
    ...{ decision: 'granted', decidedBy: 'bob', decidedAt: at(126_200) },
  })) as SessionStory['rounds'],
  evidence: [],
};

test('a story says who said what, what was called with what, what came back, how long, and who decided', () => {
  const lines = storyText(buildStory(RECORD, STORY), COLOURS, { columns: 80, lines: 6 });
  expect(lines).toEqual([
    '',
    'run 1  2026-11-29 12:00:00.000Z  run',
    '12:00:00.000  ann: Refund both orders',
    '12:00:01.200  support: I pay them back.',
    '                gpt, 1.2 s, 120 tokens in, 35 out',
    '12:00:01.200  → refund is called, and waits for a person',
    '                May e1 run?',
    '                {"n":1}',
    '12:00:01.200  → refund is called, and waits for a person',
    '                May e2 run?',
    '                {"n":2}',
    '12:00:01.200  → no_such_tool is called',
    '                "x"',
    '12:00:01.200  ← no_such_tool fails',
    '                There is no such tool.',
    '12:02:06.200  bob approves refund with other params (after 2 min 5 s)',
    '                {"n":9}',
    '12:02:07.200  cleo refuses refund (after 2 min 6 s)',
    '                Not this one.',
    '12:02:07.300  worker-2 takes the session over',
    '12:02:07.400  → refund starts',
    '12:02:07.780  ← refund fails, and is tried again after 50 ms (380 ms)',
    '12:02:07.900  → refund starts again, attempt 2, with the same key',
    '12:02:08.280  ← refund answers (380 ms)',
    '                {"paid":true}',
    '12:02:09.000  support has no answer of its model, and is tried again after 500 ms (90 ms)',
    '                too busy',
    '                gpt',
    '12:02:10.000  support:',
    '                Done.',
    '                One of them was refused.',
    '                gpt, attempt 2, 700 ms, 20 tokens',
  ]);
});

test('the sum and the verdict', () => {
  const replay = {
    sessionId: 's',
    state: 'IDLE',
    transitions: 11,
    folded: 11,
    skipped: 0,
    loss: null,
    findings: [],
  } as const;
  const entries = buildStory(RECORD, STORY);
  expect(endText(entries, { ...replay, findings: [] }, COLOURS)).toEqual([
    '1 run, 3 model calls, 175 tokens, 3 tool calls',
    'Replayed: all 11 transitions lead to what is stored.',
  ]);
  const finding = { code: 'STATE_DIFFERS', sequence: 3, found: 'IDLE\u001b[31m', wanted: 'PLANNING' } as const;
  expect(endText(entries, { ...replay, findings: [finding] }, COLOURS).at(-1)).toBe(
    String.raw`STATE_DIFFERS at #3: found IDLE\u001b[31m, wanted PLANNING`,
  );
  expect(
    endText(entries, { ...replay, folded: 3, skipped: 8, loss: 'erased', findings: [] }, COLOURS).at(-1),
  ).toContain('3 of 11');
});

describe('hostile and odd values', () => {
  const ODD = '\u001b[2J\u202e\u0000 {"a"} \n\u009b31m';

  test('no character that a terminal acts upon is printed, and every line but those of ids fits eighty columns', () => {
    const odd = record({
      transitions: [
        transition(1, 0, { type: 'user.messaged' }, { turnIndexes: [0], messageId: ODD }),
        transition(2, 1, { type: 'model.calledTools', calls: [{ executionId: 'e1', verdict: 'start' }] } as never, {
          turnIndexes: [1],
        }),
        transition(3, 2, {
          type: 'tool.outcomeUnknown',
          executions: [{ executionId: 'e1', attempt: 1, reason: ODD }],
        } as never),
        transition(
          4,
          3,
          { type: 'execution.settledByPerson', executionId: 'e1', outcome: 'succeeded', by: ODD } as never,
          { settled: ['e1'] },
        ),
        transition(5, 4, { type: 'message.rejected', code: ODD } as never),
        transition(6, 5, { type: 'run.cancelled', by: ODD } as never),
      ],
      turns: [turn(0, 'user', ODD.repeat(30)), turn(1, 'assistant', ODD, [call('e1', 0, { [ODD]: ODD.repeat(50) })])],
      executions: [execution('e1', { toolName: ODD, outputPayload: ODD.repeat(40) })],
    });
    Object.assign(odd.overview, { userId: ODD, agent: ODD, tenantId: ODD });
    const lines = [
      ...titleText(odd, COLOURS),
      ...storyText(buildStory(odd, NOTHING), COLOURS, { columns: 80, lines: 6 }),
    ];
    for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
    for (const line of lines.filter((one) => one.startsWith(' '.repeat(16))))
      expect(widthOf(line)).toBeLessThanOrEqual(80);
  });

  test('events whose payload was erased, rows that are gone, and lists that are none break nothing', () => {
    const transitions = EVERY_EVENT.flatMap((type, place) => [
      transition(2 * place, place, { type }, { event: null }),
      transition(2 * place + 1, place, {
        type,
        results: 7,
        executions: [{}],
        calls: [{}],
        executionIds: ['x'],
      } as never),
    ]);
    const lines = storyText(buildStory(record({ transitions }), NOTHING), COLOURS, { columns: 80, lines: 6 });
    expect(lines.length).toBeGreaterThan(10);
  });
});
