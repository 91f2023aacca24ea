import { TurnlockError } from '../../../errors.ts';
import { endOnSignals } from '../children/end-on-signals.ts';
import { escapeText } from '../escape-text.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import type { SharedOptions } from '../shared-options.ts';
import { openTerminal, type Terminal } from '../terminal.ts';
import { generateTranscript } from './generate-transcript.ts';
import { rehearse } from './rehearse.ts';
import { renderReport } from './render-report.ts';
import { showProgress } from './show-progress.ts';

/** What `turnlock rehearse` takes. */
export interface RunRehearseOptions extends SharedOptions {
  /** 0: nobody is killed. */
  killEvery: number;
  seed: number;
  limit?: number;
  parallel: number;
  toolMs: number;
  maxSeconds: number;
  generate?: number;
}

/** Does what `turnlock rehearse` says. */
export async function runRehearse(file: string | undefined, options: RunRehearseOptions): Promise<void> {
  const { generate: count, seed } = options;
  if (count !== undefined) process.stdout.write(generateTranscript({ count, seed }));
  else if (file === undefined) throw fileMissing();
  else await run(file, options);
}

async function run(file: string, options: RunRehearseOptions): Promise<void> {
  endOnSignals();
  const terminal = openTerminal(options);
  const { seed, parallel, toolMs, maxSeconds, killEvery, limit, database } = options;
  const progress = showProgress(terminal);
  const report = await rehearse({
    source: limit === undefined ? { file } : { file, limit },
    ...(database === undefined ? {} : { database }),
    seed,
    killEvery: killEvery === 0 ? null : killEvery,
    parallel,
    toolMs,
    maxSeconds,
    onBegin: () => introduce(terminal, file),
    onProgress: progress.update,
  }).finally(progress.end);
  terminal.json(report);
  for (const line of renderReport(report, terminal.colours)) terminal.line(line);
  if (!report.ok) process.exitCode = EXIT_CODES.failed;
}

function introduce(terminal: Terminal, file: string): void {
  const { bold, dim } = terminal.colours;
  terminal.line(`${bold('Rehearsal')} of ${escapeText(file.replace(/^.*[/\\]/, ''))}`);
  terminal.line(
    dim('The recorded user speaks, the recorded assistant is the model, the recorded answers are the tools.'),
  );
}

function fileMissing(): TurnlockError {
  return new TurnlockError('OPTIONS_INVALID', {
    message: 'file is missing (wanted recorded conversations)',
    hint: 'Name a file of recordings; `turnlock rehearse --generate 20 > made-up.jsonl` makes one to try.',
  });
}
