import type { Build } from '../../persistence/build.ts';
import type { SessionScope } from '../../persistence/session-pages.ts';
import { checkUuid } from '../../persistence/values/check-uuid.ts';
import { checkOptions } from '../check-options.ts';
import { checkTenant, optionRefused } from '../check-query.ts';
import type { Examination } from './doctor.ts';
import type { DoctorFinding } from './doctor-finding.ts';

/** What `doctor` takes. */
export interface DoctorOptions {
  /** Sessions of this tenant. */
  tenantId?: string;
  /** This session alone; with its tenant. */
  sessionId?: string;
  /**
   * `true`: sessions of every tenant, which needs the rights of `turnlock_operator`, and is recorded. Without it and without a tenant the
   * database alone is examined: its schema, settings and clocks.
   */
  all?: boolean;
  /**
   * `true`: leaves out the audit (chain, contents and fold), of which every row is read; the rest is a few statements for each page. For looks
   * that are made again and again. Default false.
   */
  quick?: boolean;
  /** Milliseconds for which work may be owed with nobody at it; five times as long a worker may be past its time. Default 60 000. */
  stuckAfterMs?: number;
  /** Sessions that are looked at in one short transaction, 1 to 10 000. Default 500. */
  pageSize?: number;
  /** Findings that the report holds, 0 to 100 000; all are counted. Default 1 000. */
  maxFindings?: number;
  /** Told of each finding as it is made, also of those beyond `maxFindings`. */
  onFinding?: (finding: DoctorFinding) => void;
  /** Ends the examination after the page that is under way; the report is then of what was looked at. */
  signal?: AbortSignal;
}

const OPTIONS = [
  'tenantId',
  'sessionId',
  'all',
  'quick',
  'stuckAfterMs',
  'pageSize',
  'maxFindings',
  'onFinding',
  'signal',
];

/** What whoever looks knows of the build. */
export interface Knowing {
  /** Absent: nothing is said of what is newer. */
  build?: Build | undefined;
  /** Whether it has a hook that tells people what they are asked. */
  announces: boolean;
}

/** @throws OPTIONS_INVALID, VALUE_INVALID. */
export function checkDoctor(given: DoctorOptions, { build, announces }: Knowing): Examination {
  const {
    quick = false,
    stuckAfterMs,
    pageSize,
    maxFindings,
    onFinding,
    signal,
  } = checkOptions(given, 'doctor', OPTIONS);
  if (typeof (onFinding ?? optionRefused) !== 'function') throw optionRefused('onFinding', 'a function');
  if (typeof quick !== 'boolean') throw optionRefused('quick', 'true or false');
  return {
    scope: scopeOf(given),
    audits: !quick,
    examining: { build, announces, stuckAfterMs: whole('stuckAfterMs', stuckAfterMs, 60_000, 0) },
    pageSize: whole('pageSize', pageSize, 500, 1, 10_000),
    maxFindings: whole('maxFindings', maxFindings, 1_000, 0, 100_000),
    onFinding: onFinding ?? null,
    signal: signal ?? null,
  };
}

function scopeOf({ tenantId, sessionId, all = false }: DoctorOptions): SessionScope | null {
  if (typeof all !== 'boolean') throw optionRefused('all', 'true or false');
  if (all && (tenantId !== undefined || sessionId !== undefined)) throw optionRefused('all', 'no tenant beside it');
  if (all) return 'all';
  if (tenantId === undefined) {
    if (sessionId !== undefined) throw optionRefused('sessionId', 'its tenant beside it');
    return null;
  }
  const tenant = checkTenant(tenantId);
  return sessionId === undefined
    ? { tenantId: tenant }
    : { tenantId: tenant, sessionId: checkUuid(sessionId, 'sessionId') };
}

function whole(name: string, value: number | undefined, absent: number, min: number, max = 2 ** 31 - 1): number {
  if (value === undefined) return absent;
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw optionRefused(name, `a whole number from ${min} to ${max}`);
}
