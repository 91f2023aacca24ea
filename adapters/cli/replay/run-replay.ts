import { type Replay, replaySession } from '../../../persistence/audit/verify-session.ts';
import { readSessionStory } from '../../../persistence/read-session-story.ts';
import { chooseSession } from '../choose-session.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { withStore } from '../open-store.ts';
import { readSettings } from '../read-settings.ts';
import { readSessionRecord, type SessionRecord } from '../session-record.ts';
import type { SharedOptions } from '../shared-options.ts';
import { openTerminal, type Terminal } from '../terminal.ts';
import { buildStory } from './build-story.ts';
import type { StoryEntry } from './story.ts';
import { endText, storyText, titleText } from './story-text.ts';

/** What `turnlock replay` takes. */
export interface ReplayOptions {
  tenant?: string;
  full?: boolean;
}

/** Lines of one text or value, unless all are asked for. */
const LINES = 6;

/** Does what `turnlock replay` says. */
export async function runReplay(session: string, options: SharedOptions & ReplayOptions): Promise<void> {
  const settings = await readSettings(options, { agents: false, mustExist: true });
  const { record, entries, replay } = await withStore(settings, async (store) => {
    const key = await chooseSession(store, session, options.tenant);
    const replay = await replaySession(store, key);
    const record = await readSessionRecord(store, key);
    return { record, replay, entries: buildStory(record, await readSessionStory(store, key)) };
  });
  const terminal = openTerminal(options);
  print(terminal, record, entries, replay, options.full === true);
  if (replay.findings.length > 0) process.exitCode = EXIT_CODES.failed;
}

function print(
  terminal: Terminal,
  record: SessionRecord,
  entries: readonly StoryEntry[],
  replay: Replay,
  isFull: boolean,
): void {
  const { colours, columns } = terminal;
  terminal.json({ session: sessionOf(record), entries, replay });
  if (terminal.isJson) return;
  const amount = { columns, lines: isFull ? Infinity : LINES };
  const lines = [
    ...titleText(record, colours),
    ...storyText(entries, colours, amount),
    '',
    ...endText(entries, replay, colours),
  ];
  for (const line of lines) terminal.line(line);
}

function sessionOf({ overview }: SessionRecord): object {
  const { sessionId, tenantId, userId, externalId, agent, agentVersion, state, version, parent, forkedFrom } = overview;
  return { sessionId, tenantId, userId, externalId, agent, agentVersion, state, version, parent, forkedFrom };
}
