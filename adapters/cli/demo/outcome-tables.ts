import { escapeText } from '../escape-text.ts';
import { formatTable } from '../format-table.ts';
import { STATE_COLOURS } from '../state-colour.ts';
import type { Colours } from '../terminal.ts';
import type { Check } from './check-play.ts';
import { formatMoney } from './format-money.ts';
import type { LedgerEntry } from './ledger.ts';
import type { Play } from './play.ts';

/** What the tables say of the calls, what the payments service says, and what that proves. */
export function outcomeText(play: Play, checks: readonly Check[], colours: Colours): string[] {
  const { bold, dim, green, red } = colours;
  return [
    '',
    `${bold('The ledger of tool calls')}${dim(', in the database (agent_tool_executions)')}`,
    ...indent(callTable(play, colours)),
    '',
    `${bold('What the outside world saw')}${dim(', in the ledger file of the payments service')}`,
    ...indent(worldTable(play.ledger, colours)),
    '',
    ...checks.map(({ holds, text }) => (holds ? `${green('✓')} ${text}` : `${red('✗')} ${text}`)),
  ];
}

function callTable({ record }: Play, colours: Colours): string[] {
  return formatTable(
    record.executions,
    [
      { title: 'call', text: ({ toolName }) => escapeText(toolName) },
      { title: 'declared as', text: ({ effect }) => effect },
      { title: 'attempts', text: ({ attempt }) => String(attempt) },
      {
        title: 'outcome',
        text: ({ status }) => status,
        style: (text, { status }) => colours[STATE_COLOURS[status]](text),
      },
      { title: 'key', text: ({ idempotencyKey }) => `…${idempotencyKey.slice(-6)}` },
      { title: 'settled by', text: ({ settledBy }) => escapeText(settledBy ?? 'its tool') },
    ],
    colours.dim,
  );
}

const SAID: Record<LedgerEntry['kind'], string> = {
  refundRequested: 'request',
  refundBooked: 'BOOKED',
  refundRepeated: 'known key',
  answerLost: 'answer lost',
  customerTold: 'message',
};

function worldTable(ledger: readonly LedgerEntry[], colours: Colours): string[] {
  return formatTable(
    ledger,
    [
      {
        title: 'entry',
        text: ({ kind }) => SAID[kind],
        style: (text, { kind }) => (kind === 'refundBooked' ? colours.green(text) : text),
      },
      { title: 'key', text: ({ key }) => `…${key.slice(-6)}` },
      { title: 'what', text: whatOf },
    ],
    colours.dim,
  );
}

function whatOf(entry: LedgerEntry): string {
  switch (entry.kind) {
    case 'refundRequested':
      return `refund ${formatMoney(entry.cents)} for order ${entry.orderId}`;
    case 'refundBooked':
      return `${entry.refundId}, ${formatMoney(entry.cents)}`;
    case 'refundRepeated':
      return `${entry.refundId} again, nothing booked`;
    case 'answerLost':
      return 'whoever asked was gone';
    case 'customerTold':
      return escapeText(entry.text);
  }
}

function indent(lines: string[]): string[] {
  return lines.map((line) => `  ${line.trimEnd()}`);
}
