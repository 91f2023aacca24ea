import { expect, test } from 'vitest';
import { exchangesOf } from '../../../../adapters/cli/rehearse/exchanges.ts';
import { parseTranscripts } from '../../../../adapters/cli/rehearse/parse-transcripts.ts';
import { recordedModel } from '../../../../adapters/cli/rehearse/recorded-model.ts';
import { RehearsedSessions } from '../../../../adapters/cli/rehearse/rehearsed-sessions.ts';
import type { ModelRequest } from '../../../../adapters/models/model.contract.ts';
import type { Runtime } from '../../../../runtime/create-runtime.ts';
import { answer, calling, chatLine, reply, user } from './chat-line.ts';

const transcripts = parseTranscripts(
  chatLine([user('a'), user('b'), calling([['c', 'think', '{}']]), answer('c', 'hm'), reply('done'), user('d')]),
);

/** Sessions as a runtime would know them, each under the id of its recording. */
function sessions(): RehearsedSessions {
  const known = new RehearsedSessions('tenant', transcripts);
  known.attach({ session: async () => ({ status: async () => ({ externalId: 'one' }) }) } as unknown as Runtime);
  return known;
}

function request(...roles: ('user' | 'assistant' | 'tool')[]): ModelRequest {
  return { sessionId: 's', turns: roles.map((role) => ({ role })) } as unknown as ModelRequest;
}

async function ask(known: RehearsedSessions, asked: ModelRequest, signal = new AbortController().signal) {
  return recordedModel(known).generate(asked, { signal, emit: () => undefined });
}

test('the answer follows from the history alone', async () => {
  expect(await ask(sessions(), request('user', 'user'))).toEqual({
    text: '',
    toolCalls: [{ toolName: 'think', input: {}, providerCallId: 'c' }],
  });
  expect(await ask(sessions(), request('user', 'user', 'assistant', 'tool'))).toEqual({ text: 'done', toolCalls: [] });
});

test('where the recording has no answer it is silent until the run is cancelled, and says so', async () => {
  const known = sessions();
  const run = new AbortController();
  const first = ask(known, request('user'), run.signal);
  await known.silent('s', 1);
  run.abort(new Error('cancelled'));
  await expect(first).rejects.toThrow('cancelled');
  void ask(known, request('user', 'user', 'assistant', 'tool', 'assistant', 'user'), run.signal).catch(() => undefined);
  await expect(known.silent('s', 3)).resolves.toBeUndefined();
});

test('the exchanges tell which messages the recording answers to the end', () => {
  expect(exchangesOf(transcripts[0]!)).toEqual([
    { text: 'a', isAnswered: false },
    { text: 'b', isAnswered: true },
    { text: 'd', isAnswered: false },
  ]);
});
