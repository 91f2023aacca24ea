import type { Limits } from '../../../limits.ts';
import type { ModelChoice } from '../models/choose-model.ts';

/** What every worker of a demonstration is told. */
export interface DemoSetup {
  /** A PostgreSQL URL, or the directory of an embedded database. */
  database: string;
  /** A tenant of its own for each demonstration. */
  tenantId: string;
  /** Port of the payments service. */
  port: number;
  model: ModelChoice;
}

/** Short times, so that a dead worker is noticed and a person asked within seconds. */
export const DEMO_LIMITS: Partial<Limits> = { leaseMs: 1_000, graceMs: 500, sweepMs: 250, toolTimeoutMs: 5_000 };
