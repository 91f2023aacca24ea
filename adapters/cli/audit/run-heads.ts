import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { TurnlockError } from '../../../errors.ts';
import { type AnchoredHead, type ChainHead, chainHeads, compareHeads } from '../../../persistence/audit/chain-heads.ts';
import { listTenants } from '../../../persistence/list-tenants.ts';
import type { Store } from '../../../persistence/session-transaction.ts';
import { checkTenant } from '../choose-session.ts';
import { escapeText } from '../escape-text.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { formatTime } from '../format-time.ts';
import { withStore } from '../open-store.ts';
import { readSettings } from '../read-settings.ts';
import { missingTenant } from '../read-tenants.ts';
import type { SharedOptions } from '../shared-options.ts';
import { openTerminal, type Terminal } from '../terminal.ts';

/** What `turnlock heads` takes. */
export interface HeadsOptions {
  tenant?: string;
  check?: string;
}

/** Does what `turnlock heads` says. */
export async function runHeads(options: SharedOptions & HeadsOptions): Promise<void> {
  const settings = await readSettings(options, { agents: false, mustExist: true });
  const terminal = openTerminal(options);
  await withStore(settings, async (store) => {
    if (options.check !== undefined) return check(store, options.check, options.tenant, terminal);
    for (const tenantId of await tenantsOf(store, options.tenant)) {
      for await (const head of chainHeads(store, tenantId)) {
        terminal.json(head);
        terminal.line(lineOf(head));
      }
    }
  });
}

async function tenantsOf(store: Store, tenant: string | undefined): Promise<Iterable<string>> {
  if (tenant !== undefined) return [checkTenant(tenant)];
  if (store.database.kind !== 'pglite') throw missingTenant();
  return (await listTenants(store)).keys();
}

function lineOf({ sessionId, sequence, hash }: ChainHead): string {
  return `${sessionId}  ${String(sequence).padStart(6)}  ${hash}`;
}

/** Heads that are compared at a time. */
const BATCH = 500;

async function check(store: Store, file: string, tenant: string | undefined, terminal: Terminal): Promise<void> {
  const only = tenant === undefined ? null : checkTenant(tenant);
  const counts = { kept: 0, changed: 0, removed: 0, gone: 0 };
  const compare = async (heads: ChainHead[]): Promise<void> => {
    for (const [tenantId, own] of Map.groupBy(heads, (head) => head.tenantId)) {
      for (const head of await compareHeads(store, tenantId, own)) {
        counts[head.is] += 1;
        tell(head, terminal);
      }
    }
  };
  let batch: ChainHead[] = [];
  for await (const head of readHeads(file)) {
    if (only !== null && head.tenantId !== only) continue;
    batch.push(head);
    if (batch.length < BATCH) continue;
    await compare(batch);
    batch = [];
  }
  await compare(batch);
  const { kept, changed, removed, gone } = counts;
  if (kept + changed + removed + gone === 0) throw nothingToCompare(file, only);
  terminal.note(`${kept} kept, ${changed} changed, ${removed} removed by retention, ${gone} gone without a word.`);
  if (changed + gone > 0) process.exitCode = EXIT_CODES.failed;
}

function nothingToCompare(file: string, tenant: string | null): TurnlockError {
  const found = tenant === null ? 'found none' : `found none of tenant ${JSON.stringify(tenant)}`;
  return new TurnlockError('OPTIONS_INVALID', {
    message: `no heads to compare: ${JSON.stringify(file)} (${found}, wanted at least one)`,
    hint: 'Pass what `turnlock heads --json` printed for this tenant: nothing was compared.',
  });
}

function tell(head: AnchoredHead, { colours, ...terminal }: Terminal): void {
  terminal.json(head);
  if (head.is === 'kept') return;
  const colour = head.is === 'removed' ? colours.yellow : colours.red;
  const how = head.is === 'removed' ? `  ${formatTime(head.removedAt)} by ${escapeText(head.removedBy)}` : '';
  terminal.line(`${lineOf(head)}  ${colour(head.is)}  ${escapeText(head.tenantId)}${how}`);
}

/** The highest that the database counts to. */
const MAX_SEQUENCE = 2 ** 31 - 1;

const headForm = z.object({
  tenantId: z.string().min(1),
  sessionId: z.guid(),
  sequence: z.int().min(0).max(MAX_SEQUENCE),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
});

async function* readHeads(file: string): AsyncGenerator<ChainHead> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  let line = 0;
  try {
    for await (const text of createInterface({ input, crlfDelay: Infinity })) {
      line += 1;
      if (text.trim() !== '') yield headForm.parse(JSON.parse(text));
    }
  } catch (cause) {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: `file of heads not accepted: ${JSON.stringify(file)} (found a problem at line ${line}, wanted what \`turnlock heads --json\` prints)`,
      cause,
    });
  }
}
