import { checkAudit } from '../../persistence/doctor/check-audit.ts';
import { checkDatabase } from '../../persistence/doctor/check-database.ts';
import { checkMemoryOf } from '../../persistence/doctor/check-memory.ts';
import { checkClaimsOf, checkClaimsOfOne, checkPage, type Examining } from '../../persistence/doctor/check-sessions.ts';
import type { DoctorCode, Found, Severity } from '../../persistence/doctor/doctor-codes.ts';
import { readStanding } from '../../persistence/read-standings.ts';
import { type SessionScope, sessionPages } from '../../persistence/session-pages.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { tenantsLeft } from '../../persistence/tenants-left.ts';
import { type DoctorFinding, toFinding } from './doctor-finding.ts';

/** What is examined, and how. */
export interface Examination {
  /** `null`: the database alone. */
  scope: SessionScope | null;
  examining: Omit<Examining, 'limits'>;
  /** Whether each session's audit is verified too: chain, contents and fold. */
  audits: boolean;
  /** Sessions that are looked at in one transaction. */
  pageSize: number;
  /** Findings that the report holds; all are counted. */
  maxFindings: number;
  /** Told of each finding as it is made. */
  onFinding: ((finding: DoctorFinding) => void) | null;
  /** Ends the examination after the page that is under way. */
  signal: AbortSignal | null;
}

/** What doctor found. */
export interface DoctorReport {
  /** Sessions that were looked at. */
  sessions: number;
  /** Findings of each severity. */
  errors: number;
  warnings: number;
  /** How many of each code; what was not found is left out. */
  counts: Partial<Record<DoctorCode, number>>;
  /** The first ones. */
  findings: DoctorFinding[];
  /** Whether there are more than `findings` holds. */
  isCut: boolean;
}

/**
 * Looks for what is not as it must be. Reads alone, in bounded pages; memory does not grow with the number of sessions.
 *
 * @throws SESSION_NOT_FOUND when it is to look at one session that the tenant has not.
 */
export async function examine(store: Store, examination: Examination): Promise<DoctorReport> {
  const { scope } = examination;
  const report = new Report(examination);
  report.add(await checkDatabase(store));
  if (scope !== null) await examineSessions(store, scope, examination, report);
  return report.end();
}

/** Sessions whose audits are read side by side: each is a row of small reads, which mostly wait for their answers. */
const AUDITS_AT_ONCE = 4;

async function examineSessions(
  store: Store,
  scope: SessionScope,
  examination: Examination,
  report: Report,
): Promise<void> {
  const { examining, audits, pageSize, signal } = examination;
  const judging = { ...examining, limits: store.limits };
  if (scope !== 'all' && 'sessionId' in scope) await readStanding(store, scope);
  let tenant: string | null = null;
  for await (const page of sessionPages(store, scope, pageSize)) {
    if (signal?.aborted) return;
    report.sessions += page.sessionIds.length;
    report.add(await checkPage(store, page, judging));
    const audited = audits ? page.sessionIds : [];
    for (let from = 0; from < audited.length; from += AUDITS_AT_ONCE) {
      if (signal?.aborted) return;
      const keys = audited.slice(from, from + AUDITS_AT_ONCE).map((sessionId) => ({ ...page, sessionId }));
      for (const found of await Promise.all(keys.map((key) => checkAudit(store, key)))) report.add(found);
    }
    if (scope !== 'all' && 'sessionId' in scope) report.add(await checkClaimsOfOne(store, scope));
    else if (page.tenantId !== tenant) {
      tenant = page.tenantId;
      await examineTenant(store, tenant, examination, report);
    }
  }
  // Keys and memories outlive their sessions: a tenant may have some and no session.
  if (scope === 'all') {
    for await (const left of tenantsLeft(store, pageSize)) {
      if (signal?.aborted) return;
      await examineTenant(store, left, examination, report);
    }
  } else if (tenant === null && !('sessionId' in scope)) {
    await examineTenant(store, scope.tenantId, examination, report);
  }
}

/** What a tenant has beside its sessions. */
async function examineTenant(
  store: Store,
  tenantId: string,
  { examining, pageSize }: Examination,
  report: Report,
): Promise<void> {
  for await (const found of checkClaimsOf(store, tenantId, pageSize)) report.add(found);
  report.add(await checkMemoryOf(store, tenantId, examining.stuckAfterMs));
}

class Report {
  sessions = 0;
  readonly #examination: Examination;
  readonly #counts = new Map<DoctorCode, number>();
  readonly #severities: Record<Severity, number> = { error: 0, warning: 0 };
  readonly #findings: DoctorFinding[] = [];

  constructor(examination: Examination) {
    this.#examination = examination;
  }

  add(found: readonly Found[]): void {
    const { maxFindings, onFinding } = this.#examination;
    for (const one of found) {
      const finding = toFinding(one);
      this.#counts.set(finding.code, (this.#counts.get(finding.code) ?? 0) + 1);
      this.#severities[finding.severity] += 1;
      if (this.#findings.length < maxFindings) this.#findings.push(finding);
      onFinding?.(finding);
    }
  }

  end(): DoctorReport {
    const { error: errors, warning: warnings } = this.#severities;
    const findings = this.#findings;
    const counts = Object.fromEntries(this.#counts);
    return { sessions: this.sessions, errors, warnings, counts, findings, isCut: errors + warnings > findings.length };
  }
}
