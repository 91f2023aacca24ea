import type { Command } from 'commander';
import { headsCommand } from './audit/heads-command.ts';
import { awaitingCommand } from './awaiting-command.ts';
import { chatCommand } from './chat/chat-command.ts';
import { budgetCommand, controlsCommand, freezeCommand, unfreezeCommand } from './control-commands.ts';
import { approveCommand, denyCommand } from './decide-commands.ts';
import { demoCommand } from './demo/demo-command.ts';
import { doctorCommand } from './doctor-command.ts';
import { eraseCommand } from './erase-command.ts';
import { explainCommand } from './explain-command.ts';
import { findCommand } from './find-command.ts';
import { forkCommand } from './fork-command.ts';
import { inspectCommand } from './inspect-command.ts';
import { memoryCommand } from './memory/memory-command.ts';
import { migrateCommand } from './migrate-command.ts';
import { preflightCommand } from './preflight-command.ts';
import { recoverCommand } from './recover-command.ts';
import { rehearseCommand } from './rehearse/rehearse-command.ts';
import { releaseCommand } from './release-command.ts';
import { replayCommand } from './replay/replay-command.ts';
import { retainCommand } from './retain-command.ts';
import { retryCommand } from './retry-command.ts';
import { sessionsCommand } from './sessions-command.ts';
import { settleCommand } from './settle-command.ts';
import { showCommand } from './show-command.ts';
import { workerCommand } from './worker-command.ts';

/** Every command, in the order in which help lists them. */
export function allCommands(): Command[] {
  return [
    demoCommand(),
    chatCommand(),
    inspectCommand(),
    migrateCommand(),
    preflightCommand(),
    doctorCommand(),
    sessionsCommand(),
    findCommand(),
    showCommand(),
    replayCommand(),
    headsCommand(),
    explainCommand(),
    awaitingCommand(),
    approveCommand(),
    denyCommand(),
    settleCommand(),
    retryCommand(),
    forkCommand(),
    releaseCommand(),
    recoverCommand(),
    workerCommand(),
    freezeCommand(),
    unfreezeCommand(),
    budgetCommand(),
    controlsCommand(),
    retainCommand(),
    eraseCommand(),
    memoryCommand(),
    rehearseCommand(),
  ];
}
