import type { AuditRow } from '../../../persistence/audit/read-audit-rows.ts';
import { escapeText } from '../escape-text.ts';
import { formatTime } from '../format-time.ts';
import { STATE_COLOURS } from '../state-colour.ts';
import type { Colours } from '../terminal.ts';

/** A transition as the audit has it, for people: what, who, and its place in the chain. */
export function auditText(row: AuditRow, colours: Colours): string[] {
  const { sequence, createdAt, type, from, to, eventId, hash, payload } = row;
  const { bold, dim } = colours;
  return [
    `${bold(`#${sequence}`)}  ${formatTime(createdAt)}  ${bold(type)}`,
    `  ${from} → ${colours[STATE_COLOURS[to]](to)}, ${whoText(row)}`,
    ...(payload?.holder ? [dim(`  worker ${escapeText(payload.holder)}`)] : []),
    dim(`  event  ${escapeText(eventId)}`),
    dim(`  hash   ${hash}`),
  ];
}

function whoText({ cause, token, payload, erasedAt }: AuditRow): string {
  const { by } = (payload?.event ?? {}) as { by?: unknown };
  const parts = [
    `cause ${cause}`,
    `token ${token}`,
    ...(typeof by === 'string' ? [`by ${escapeText(by)}`] : []),
    ...(payload?.messageId ? [`message ${escapeText(payload.messageId)}`] : []),
    ...(erasedAt === null ? [] : [`payload erased ${formatTime(erasedAt)}`]),
  ];
  return parts.join(', ');
}
