import { KILL_POINTS, type KillPoint, RECEIVERS, type Receiver } from './peer-task.ts';
import type { Played } from './play.ts';

const RECEIVER_NAMES: Readonly<Record<Receiver, string>> = {
  keys: 'honours idempotency keys',
  lookUp: 'no keys, says what it did',
  neither: 'neither',
};
const POINT_NAMES: Readonly<Record<KillPoint, string>> = {
  beforeTheAct: 'before the act',
  onTheWay: 'request on its way',
  afterTheAct: 'after the act',
  afterTheRecord: 'after the record',
};

/** One table of Markdown for each receiver: a row for each framework, a column for each point at which its process was killed. */
export function reportPlays(plays: readonly Played[], names: Readonly<Record<string, string>>): string {
  const points = KILL_POINTS.filter((point) => plays.some(({ killPoint }) => killPoint === point));
  const tables = RECEIVERS.filter((one) => plays.some(({ receiver }) => receiver === one)).map((receiver) => {
    const those = plays.filter((one) => one.receiver === receiver);
    const peers = [...new Set(those.map(({ peer }) => peer))];
    return [
      `The receiver: ${RECEIVER_NAMES[receiver]}`,
      '',
      `| killed | ${points.map((point) => POINT_NAMES[point]).join(' | ')} |`,
      `|---|${points.map(() => '---|').join('')}`,
      ...peers.map((peer) => {
        const cells = points.map((point) =>
          cellOf(those.filter((one) => one.peer === peer && one.killPoint === point)),
        );
        return `| ${names[peer] ?? peer} | ${cells.join(' | ')} |`;
      }),
    ].join('\n');
  });
  return `${tables.join('\n\n')}\n`;
}

/** What came of one cell; where it was played more than once, each thing that came. */
function cellOf(plays: readonly Played[]): string {
  return [...new Set(plays.map(({ refunds, ended }) => `${refundsText(refunds)}, ${endedText(ended)}`))].join(' or ');
}

function refundsText(refunds: number): string {
  return refunds === 1 ? '1 refund' : `**${refunds} refunds**`;
}

function endedText(ended: string): string {
  return ended.startsWith('Refunded') ? 'done' : ended.startsWith('a person') ? 'a person is asked' : ended;
}
