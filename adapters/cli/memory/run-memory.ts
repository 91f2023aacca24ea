import { TurnlockError } from '../../../errors.ts';
import { forgetMemories } from '../../../persistence/memory/forget-memories.ts';
import type { MemoryKind, MemoryOwner } from '../../../persistence/memory/new-memory.ts';
import { type FoundMemory, newestMemories, recallMemories } from '../../../persistence/memory/recall-memories.ts';
import type { Store } from '../../../persistence/session-transaction.ts';
import { checkForget, checkOwner } from '../../../runtime/memory/check-memory.ts';
import { embedTexts } from '../../../runtime/memory/embed-texts.ts';
import { checkMemoryOptions } from '../../../runtime/memory/memory-options.ts';
import { openVectors } from '../../../runtime/memory/open-vectors.ts';
import { checkTenant } from '../choose-session.ts';
import { escapeText } from '../escape-text.ts';
import { formatTable } from '../format-table.ts';
import { formatTime } from '../format-time.ts';
import { withStore } from '../open-store.ts';
import { readSettings, type Settings } from '../read-settings.ts';
import type { SharedOptions } from '../shared-options.ts';
import { openTerminal, type Terminal } from '../terminal.ts';
import { warnOn } from '../with-runtime.ts';
import { checkAction } from './check-action.ts';
import { runReembed } from './run-reembed.ts';

/** What `turnlock memory` does. */
export type MemoryAction = 'list' | 'recall' | 'forget' | 'reembed';

/** What it takes. */
export interface MemoryCommandOptions {
  tenant?: string;
  user?: string;
  kind?: MemoryKind[];
  limit: number;
  id?: string[];
  all?: boolean;
  dryRun?: boolean;
}

/** Columns of a content in a table; `--json` prints it whole. */
const CONTENT_WIDTH = 80;

/** Does what `turnlock memory` says. */
export async function runMemory(
  action: MemoryAction,
  query: string | undefined,
  options: SharedOptions & MemoryCommandOptions,
): Promise<void> {
  checkAction(action, query, options);
  if (action === 'reembed') return runReembed(options);
  const owner = ownerOf(options);
  const terminal = openTerminal(options);
  const settings = await readSettings(options, { agents: action === 'recall', mustExist: true });
  await withStore(settings, async (store) => {
    if (action === 'forget') return forget(store, owner, options, terminal);
    const filter = { limit: options.limit, ...(options.kind === undefined ? {} : { kinds: options.kind }) };
    if (action === 'list' || query === undefined || query.trim() === '') {
      return print(terminal, await newestMemories(store, owner, filter));
    }
    const vector = await queryVector(store, settings, query, terminal);
    print(terminal, await recallMemories(store, owner, { ...filter, text: query, vector }));
  });
}

function ownerOf({ tenant, user }: MemoryCommandOptions): MemoryOwner {
  if (tenant !== undefined && user !== undefined) return checkOwner({ tenantId: checkTenant(tenant), userId: user });
  throw new TurnlockError('OPTIONS_INVALID', {
    message: `${tenant === undefined ? '--tenant' : '--user'} is missing (wanted whose memories)`,
  });
}

/** By the embedder of the configuration, where it has one that fits. */
async function queryVector(store: Store, settings: Settings, query: string, terminal: Terminal) {
  const remembering = { ...checkMemoryOptions(settings.memory ?? {}), whenMismatched: 'textOnly' as const };
  const vectors = await openVectors(store, remembering, { makes: false, onWarning: warnOn(terminal) });
  if (vectors === null || remembering.embedder === null) return null;
  const { environment, limits } = store;
  const signal = new AbortController().signal;
  const asked = { embedder: remembering.embedder, environment, timeoutMs: limits.embedTimeoutMs, signal };
  const [values] = await embedTexts(asked, [query], 'query');
  return { ...vectors, values: values! };
}

async function forget(
  store: Store,
  owner: MemoryOwner,
  { id, all, kind }: MemoryCommandOptions,
  terminal: Terminal,
): Promise<void> {
  const what =
    id === undefined ? { all: all as true, ...(kind === undefined ? {} : { kinds: kind }) } : { memoryIds: id };
  const forgotten = await forgetMemories(store, owner, checkForget(what));
  terminal.json({ forgotten });
  terminal.line(`Memories forgotten: ${forgotten}`);
}

function print(terminal: Terminal, memories: readonly FoundMemory[]): void {
  terminal.json({ memories });
  if (memories.length === 0) terminal.note('Nothing is remembered that fits.');
  const lines = formatTable(
    memories,
    [
      { title: 'MEMORY', text: ({ memoryId }) => memoryId },
      { title: 'KIND', text: ({ kind }) => kind },
      { title: 'SINCE', text: ({ createdAt }) => formatTime(createdAt) },
      { title: 'CONTENT', text: ({ content }) => escapeText(content), maxWidth: CONTENT_WIDTH },
    ],
    terminal.colours.dim,
  );
  for (const line of memories.length === 0 ? [] : lines) terminal.line(line);
}
