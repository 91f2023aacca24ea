import type { CommandWords, Runtime, Session } from '../../../index.ts';

/** Does what the words of a command say, by the public API: as the command line would, which the long tests run itself. */
export async function obey(runtime: Runtime, words: CommandWords): Promise<void> {
  const [program, command, subject = ''] = words;
  if (program !== 'turnlock') throw new Error(`no command of ours: ${words.join(' ')}`);
  if (command === 'recover') return void (await runtime.recover());
  const sessionId = optionOf(words, '--session') ?? subject;
  const session = await runtime.session({ tenantId: optionOf(words, '--tenant') ?? '', sessionId });
  await DOINGS[command as keyof typeof DOINGS](session, subject, words);
}

const by = 'ann';

const DOINGS = {
  approve: async (session: Session, executionId: string, words: CommandWords) =>
    settled(session.approve(executionId, { by, digest: optionOf(words, '--digest') ?? '' })),
  deny: async (session: Session, executionId: string, words: CommandWords) =>
    settled(session.deny(executionId, { by, reason: optionOf(words, '--reason') ?? '' })),
  settle: async (session: Session, executionId: string, words: CommandWords) => {
    const reason = optionOf(words, '--failed');
    const who = { by, approvalId: optionOf(words, '--approval') ?? '' };
    if (words.includes('--run-again')) return settled(session.settle(executionId, { outcome: 'runAgain', ...who }));
    if (reason !== undefined) return settled(session.settle(executionId, { outcome: 'failed', reason, ...who }));
    return settled(session.settle(executionId, { outcome: 'succeeded', output: null, ...who }));
  },
  retry: async (session: Session) => settled(session.retry({ by })),
  release: async (session: Session) => void (await session.release({ by })),
};

async function settled(run: ReturnType<Session['retry']>): Promise<void> {
  await (await run).result();
}

function optionOf(words: CommandWords, name: string): string | undefined {
  const place = words.indexOf(name);
  return place < 0 ? undefined : words[place + 1];
}
