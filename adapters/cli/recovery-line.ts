import type { Recovery } from '../../runtime/recover.ts';
import { escapeText } from './escape-text.ts';
import { STATE_COLOURS } from './state-colour.ts';
import type { Terminal } from './terminal.ts';

/** Prints what became of one session: a line, or a document where JSON was asked for. */
export function printRecovery(
  { json, line, colours }: Terminal,
  { sessionId, tenantId, state, skipped }: Recovery,
): void {
  json({ sessionId, tenantId, state: state ?? null, skipped: skipped ?? null });
  const end =
    state !== undefined
      ? colours[STATE_COLOURS[state]](state)
      : colours.yellow(skipped === 'RUNTIME_CLOSED' ? 'handed over' : `left alone: ${skipped}`);
  line(`${sessionId}  ${escapeText(tenantId)}  ${end}`);
}
