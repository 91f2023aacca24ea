import { expect, test } from 'vitest';
import { type Act, recordedActs } from '../../../../adapters/cli/rehearse/act.ts';
import { compareActs } from '../../../../adapters/cli/rehearse/compare-acts.ts';
import { parseTranscripts } from '../../../../adapters/cli/rehearse/parse-transcripts.ts';
import { RecordedWorld } from '../../../../adapters/cli/rehearse/recorded-world.ts';
import { answer, calling, chatLine, user } from './chat-line.ts';

const twice = calling([
  ['a', 'refund', '{"id":1,"of":2}'],
  ['b', 'refund', '{"of":2,"id":1}'],
]);
const transcripts = parseTranscripts(chatLine([user('x'), twice, answer('a', 'first'), answer('b', 'second')]));

function act(ordinal: number, change: Partial<Act> = {}): Act {
  return { transcriptId: 'one', toolName: 'refund', input: { of: 2, id: 1 }, turnIndex: 1, ordinal, ...change };
}

test('an act that was recorded twice must be seen under two keys, however often each is repeated', () => {
  const world = new RecordedWorld(transcripts);
  const recorded = recordedActs(transcripts);
  expect([world.note(act(0), 'k1'), world.note(act(0), 'k1')]).toEqual([true, false]);
  expect(compareActs(recorded, world.seen())).toMatchObject([{ recorded: 2, seen: 1 }]);
  world.note(act(1), 'k2');
  expect(world.seen()).toMatchObject([{ distinctKeys: 2, invocations: 3 }]);
  expect(compareActs(recorded, world.seen())).toEqual([]);
  world.note(act(1), 'k3');
  expect(compareActs(recorded, world.seen())).toMatchObject([{ recorded: 2, seen: 3 }]);
});

test('an act that was never recorded, or never seen, is a difference', () => {
  const world = new RecordedWorld(transcripts);
  world.note(act(0, { toolName: 'other' }), 'k');
  expect(compareActs(recordedActs(transcripts), world.seen())).toMatchObject([
    { recorded: 2, seen: 0 },
    { recorded: 0, seen: 1 },
  ]);
});

test('each of two identical calls has its own recorded answer; another act has none', () => {
  const world = new RecordedWorld(transcripts);
  expect([world.outputOf(act(0)), world.outputOf(act(1))]).toEqual(['first', 'second']);
  expect(world.outputOf(act(0, { input: {} }))).toBeUndefined();
  expect(world.outputOf(act(2))).toBeUndefined();
  expect(world.outputOf(act(0, { turnIndex: 0 }))).toBeUndefined();
});
