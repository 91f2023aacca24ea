import { counted } from './counted.ts';
import type { PlayedTool, PlayedTools } from './played-tools.ts';

/**
 * What was played in so many runs in which nothing was found, for people: the faults, and a line for each tool. Tools that never ran are told
 * first. `isReplay`: what the one run does not ask for is left out, and that it asks for nothing is told.
 */
export function toolsText(
  { tools, faults }: PlayedTools,
  { runs, isReplay }: { runs: number; isReplay: boolean },
): string {
  const all = Object.entries(tools).filter(([, { calls }]) => !isReplay || calls > 0);
  const idle = all.flatMap(([name, { attempts }]) => (attempts === 0 ? [name] : []));
  const isEmpty = all.length === 0 ? ', but NO CALL RAN' : '';
  const nothing = idle.length === 0 ? isEmpty : `, but ${idle.join(', ')} NEVER RAN`;
  const struck = [
    counted(faults.crash, 'crash', 'crashes'),
    counted(faults.stall, 'stall'),
    counted(faults.disconnect, 'lost connection'),
    counted(faults.timeout, 'time-out'),
  ];
  return [
    `Nothing was found in ${counted(runs, 'run')}${nothing}.`,
    `  faults: ${struck.join(', ')}`,
    ...all.map(([name, tool]) => `  ${name}: ${toolText(tool)}`),
  ].join('\n');
}

function toolText({ calls, attempts, reconciles, succeeded, answered, failed, notRun, unknown }: PlayedTool): string {
  const reasons = Object.entries(notRun);
  const ends = [
    `${succeeded} succeeded`,
    ...(answered === 0 ? [] : [`${answered} answered by another one`]),
    `${failed} failed`,
    ...(unknown === 0 ? [] : [`${unknown} unknown`]),
    ...(reasons.length === 0 ? [] : [`not run: ${reasons.map(([code, count]) => `${count} ${code}`).join(', ')}`]),
  ];
  const asked = reconciles === 0 ? '' : `, ${counted(reconciles, 'reconcile')}`;
  return `${counted(calls, 'call')}, ${counted(attempts, 'attempt')}${asked}; ${ends.join(', ')}`;
}
