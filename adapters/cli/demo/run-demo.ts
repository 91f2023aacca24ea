import { endOnSignals } from '../children/end-on-signals.ts';
import { escapeText } from '../escape-text.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { chooseModel, type ModelChoice, modelText } from '../models/choose-model.ts';
import type { SharedOptions } from '../shared-options.ts';
import { openTerminal, type Terminal } from '../terminal.ts';
import { askLedger } from './ask-ledger.ts';
import { askPerson, chooseNext } from './ask-person.ts';
import { type Check, checkPlay } from './check-play.ts';
import { type DemoReport, demoReport } from './demo-report.ts';
import { outcomeText } from './outcome-tables.ts';
import type { AskPerson, Play } from './play.ts';
import { playScenario } from './play-scenario.ts';
import { SCENARIOS, type Scenario } from './scenario.ts';
import { showPlay } from './show-play.ts';
import { offerInspector, showSessions } from './show-sessions.ts';
import { Stage } from './stage.ts';
import { Story } from './story.ts';

/** What `turnlock demo` takes. */
export interface DemoOptions {
  once?: boolean;
  /** Whether the sessions are shown on a page afterwards. */
  inspect?: boolean;
  model?: string;
}

interface Checked {
  play: Play;
  checks: Check[];
}

/** Does what `turnlock demo` says. */
export async function runDemo(options: SharedOptions & DemoOptions): Promise<void> {
  endOnSignals();
  const model = chooseModel(options.model, process.env);
  const terminal = openTerminal(options);
  const startedAt = performance.now();
  introduce(terminal, model);
  const stage = await Stage.open({ database: options.database, model });
  try {
    const isChosen = terminal.isInteractive && Boolean(process.stdin.isTTY) && options.once !== true;
    await stage.worker();
    terminal.line(readyText(terminal, stage, performance.now() - startedAt));
    const plays = await (isChosen ? playAsChosen(stage, terminal) : playAll(stage, terminal));
    conclude(
      terminal,
      demoReport(plays, {
        database: kindOf(stage),
        model: modelText(model),
        seconds: Math.round((performance.now() - startedAt) / 100) / 10,
      }),
      model,
    );
    if (options.inspect === true) await showSessions(stage, terminal);
    else offerInspector(stage, terminal);
  } finally {
    await stage.close();
  }
}

async function playAll(stage: Stage, terminal: Terminal): Promise<Checked[]> {
  const plays: Checked[] = [];
  for (const scenario of SCENARIOS) plays.push(await play(stage, terminal, scenario, askLedger));
  return plays;
}

async function playAsChosen(stage: Stage, terminal: Terminal): Promise<Checked[]> {
  const plays: Checked[] = [await play(stage, terminal, SCENARIOS[0], askPerson)];
  for (;;) {
    switch (await chooseNext(terminal)) {
      case '1':
        plays.push(await play(stage, terminal, SCENARIOS[0], askPerson));
        break;
      case '2':
        plays.push(await play(stage, terminal, SCENARIOS[1], askPerson));
        break;
      case 'show':
        showPlay(terminal, plays.at(-1)!.play);
        break;
      default:
        return plays;
    }
  }
}

async function play(stage: Stage, terminal: Terminal, scenario: Scenario, ask: AskPerson): Promise<Checked> {
  const played = await playScenario(stage, scenario, new Story(terminal), ask);
  const checks = checkPlay(played);
  for (const line of outcomeText(played, checks, terminal.colours)) terminal.line(line);
  return { play: played, checks };
}

function introduce(terminal: Terminal, model: ModelChoice): void {
  const { bold, dim } = terminal.colours;
  terminal.line(bold('Turnlock: kill the worker in the middle of a refund'));
  terminal.line();
  terminal.line('An agent refunds a broken order. The payments service books the refund, and before its answer comes,');
  terminal.line('the process that runs the agent is killed. Was the money sent? What happens next is one word of the');
  terminal.line("tool's definition: here are both.");
  terminal.line();
  const isScripted = model.provider === 'scripted';
  const cast = isScripted ? 'Scripted: the model, so no key is needed.' : `The model is ${modelText(model)}.`;
  terminal.line(dim(`${escapeText(cast)} Real: four processes, SIGKILL, HTTP, PostgreSQL.`));
}

function readyText({ colours }: Terminal, stage: Stage, ms: number): string {
  const place = kindOf(stage) === 'pglite' ? 'PostgreSQL embedded by PGlite' : 'PostgreSQL server';
  return colours.dim(
    `Ready after ${(ms / 1_000).toFixed(1)} s: ${place}, payments service on port ${stage.setup.port}.`,
  );
}

function conclude(terminal: Terminal, report: DemoReport, model: ModelChoice): void {
  const { bold, red } = terminal.colours;
  terminal.json(report);
  terminal.line();
  if (report.ok) {
    terminal.line(bold('Every claim above was checked against the ledger file and the tables, and held.'));
    terminal.line('README.md shows the code of an agent; docs/demo.md explains what you saw.');
  } else {
    const isScripted = model.provider === 'scripted';
    const whose = isScripted
      ? 'that is a bug. Please report it with the output of --json.'
      : 'see above what the model did. If one does not hold with --model scripted either, that is a bug.';
    terminal.line(red(`Not every claim held: ${whose}`));
    process.exitCode = EXIT_CODES.failed;
  }
}

function kindOf({ setup }: Stage): DemoReport['database'] {
  return /^postgres(ql)?:/.test(setup.database) ? 'postgres' : 'pglite';
}
