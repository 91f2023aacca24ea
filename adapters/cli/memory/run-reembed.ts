import { TurnlockError } from '../../../errors.ts';
import { type EmbeddingSettings, isSameModel, readEmbeddings } from '../../../persistence/memory/embedding-settings.ts';
import { makeEmbeddings } from '../../../persistence/memory/make-embeddings.ts';
import { countOwed, oweEmbeddings } from '../../../persistence/memory/owe-embeddings.ts';
import type { Store } from '../../../persistence/session-transaction.ts';
import { checkMemoryOptions } from '../../../runtime/memory/memory-options.ts';
import { openVectors, settingsOf } from '../../../runtime/memory/open-vectors.ts';
import { VectorWork } from '../../../runtime/memory/vector-work.ts';
import { Operations } from '../../../runtime/operations.ts';
import { escapeText } from '../escape-text.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { withStore } from '../open-store.ts';
import { readSettings } from '../read-settings.ts';
import type { SharedOptions } from '../shared-options.ts';
import { openTerminal, type Terminal } from '../terminal.ts';
import { warnOn } from '../with-runtime.ts';
import { extensionMissing } from './extension-missing.ts';

/**
 * Makes the vectors that are missing, by the embedder of the configuration; where vectors of another model are kept, those go and all are made
 * anew. It says before what it will do. Searches go by words meanwhile. Stopped by a signal, it gives back what it has claimed; run again, or by any
 * worker, it goes on.
 */
export async function runReembed(options: SharedOptions & { dryRun?: boolean }): Promise<void> {
  const terminal = openTerminal(options);
  const settings = await readSettings(options, { agents: true, mustExist: true });
  const remembering = checkMemoryOptions(settings.memory ?? {});
  const { embedder } = remembering;
  if (embedder === null) throw noEmbedder();
  await withStore(settings, async (store) => {
    const wanted = settingsOf(embedder);
    const { settings: kept } = await readEmbeddings(store);
    const isReplaced = kept !== null && !isSameModel(kept, wanted);
    terminal.note(sayPlan(kept, wanted));
    if (options.dryRun) return terminal.json({ dryRun: true, kept, wanted, made: 0, left: await owedNow(store, kept) });
    const { outcome } = await makeEmbeddings(store.database, wanted, { replace: true });
    if (outcome === 'unavailable') throw extensionMissing();
    const owed = await oweEmbeddings(store.database);
    const onWarning = warnOn(terminal);
    const vectors = await openVectors(store, remembering, { makes: false, onWarning });
    if (vectors === null) throw extensionMissing();
    const stopping = stopOnSignal(terminal);
    const operations = new Operations();
    const work = new VectorWork({ store, embedder, vectors, operations, closing: stopping.signal, onWarning });
    let made = 0;
    const onBatch = (batch: number): void => {
      made += batch;
      terminal.note(`${made} of ${owed}`);
    };
    await work.sweep({ signal: stopping.signal, onBatch }).finally(stopping.end);
    const left = await countOwed(store.database);
    terminal.json({ dryRun: false, kept: isReplaced ? null : kept, wanted, made, left });
    terminal.line(`Vectors made: ${made}. Left: ${left}.`);
    if (left > 0) terminal.note('What is left is made by any worker, or when this is run again.');
    if (left > 0 && !stopping.signal.aborted) process.exitCode = EXIT_CODES.failed;
  });
}

async function owedNow(store: Store, kept: EmbeddingSettings | null): Promise<number> {
  return kept === null ? 0 : countOwed(store.database);
}

function sayPlan(kept: EmbeddingSettings | null, wanted: EmbeddingSettings): string {
  const words = ({ modelId, dimensions }: EmbeddingSettings) => `${dimensions} dimensions of ${escapeText(modelId)}`;
  if (kept === null)
    return `No vectors are kept: their table is made, and a vector of ${words(wanted)} for each memory.`;
  if (isSameModel(kept, wanted)) return `Vectors of ${words(wanted)} are kept: those that are missing are made.`;
  return `All vectors of ${words(kept)} are dropped, and those of ${words(wanted)} are made. Searches go by words until they are there.`;
}

/** The first signal ends it after the batch that is under way is given back, the second at once. */
function stopOnSignal(terminal: Terminal): { signal: AbortSignal; end(): void } {
  const stopping = new AbortController();
  const stop = (signal: NodeJS.Signals): void => {
    process.exitCode = signal === 'SIGINT' ? 130 : 143;
    terminal.note('Stopping. Once more to stop at once.');
    stopping.abort();
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  return { signal: stopping.signal, end: () => void process.off('SIGINT', stop).off('SIGTERM', stop) };
}

function noEmbedder(): TurnlockError {
  return new TurnlockError('CONFIG_INVALID', {
    message: 'no embedder is known (found none in the configuration, wanted the one that makes the vectors)',
    hint: 'Export `memory: { embedder }` from turnlock.config.ts.',
  });
}
