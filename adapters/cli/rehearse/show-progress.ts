import { formatDuration } from '../format-time.ts';
import type { Terminal } from '../terminal.ts';
import type { RehearsalProgress } from './rehearse.ts';

const BAR_WIDTH = 24;
const REDRAW_MS = 100;
const ERASE_LINE = '\r\u001b[K';

/** Shows how far a rehearsal has come: a bar that is redrawn on a terminal, elsewhere a line for each tenth. */
export function showProgress(terminal: Terminal): { update(progress: RehearsalProgress): void; end(): void } {
  const startedAt = performance.now();
  let drawnAt = Number.NEGATIVE_INFINITY;
  let tenths = 0;
  return {
    update(progress) {
      const now = performance.now();
      const text = describe(progress, now - startedAt);
      if (terminal.isInteractive && now - drawnAt >= REDRAW_MS) {
        drawnAt = now;
        process.stderr.write(`${ERASE_LINE}${text}`);
      }
      const tenth = Math.floor(shareOf(progress) * 10);
      if (!terminal.isInteractive && tenth > tenths) terminal.note(text);
      tenths = Math.max(tenths, tenth);
    },
    end() {
      if (terminal.isInteractive) process.stderr.write(ERASE_LINE);
    },
  };
}

function shareOf({ calls, recordedCalls, sessions, recordedSessions }: RehearsalProgress): number {
  return (calls + sessions) / Math.max(1, recordedCalls + recordedSessions);
}

function describe(progress: RehearsalProgress, ms: number): string {
  const { calls, recordedCalls, sessions, recordedSessions, kills } = progress;
  const filled = Math.round(shareOf(progress) * BAR_WIDTH);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
  return `${bar}  ${calls}/${recordedCalls} calls  ${sessions}/${recordedSessions} conversations  ${kills} kills  ${formatDuration(ms)}`;
}
