import type { ObservedCommit, ObservedSession, Telemetry } from '../adapters/telemetry/telemetry.contract.ts';
import type { Environment } from '../environment.ts';
import type { CommitObserver } from '../persistence/commit-observer.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';
import { guarded } from './guarded.ts';
import { type Log, type LogEvent, logEntry } from './log.ts';
import { observedCommit } from './observed-commit.ts';
import { unfailingTelemetry } from './unfailing-telemetry.ts';

/** A warning of the runtime. */
export interface RuntimeWarning {
  code: string;
  message: string;
}

/** What a runtime is told to tell. */
interface Told {
  telemetry?: Telemetry | null | undefined;
  log?: Log | null | undefined;
  environment: Environment;
  onWarning(warning: RuntimeWarning): void;
  /** Told of a log that throws, also where warnings go to the log. */
  onLogFailed(warning: RuntimeWarning): void;
}

/** Where a runtime tells of itself. Nothing of it throws, and nothing waits for it. */
export interface Signals {
  /** `null` where the host wants none. */
  telemetry: Telemetry | null;
  /** Told of commits; `null` where nobody listens. */
  observer: CommitObserver | null;
  log(event: Exclude<LogEvent, 'warning'>, attributes?: Parameters<typeof logEntry>[2]): void;
  warn(warning: RuntimeWarning): void;
  tookOver(session: ObservedSession & { isLost: boolean }): void;
}

/** Signals of a runtime whose host gave `telemetry` and `log`; a hook that throws is a warning, once each. */
export function createSignals({ telemetry: given, log, environment, onWarning, onLogFailed }: Told): Signals {
  const once = (code: string, hook: string, tell: (warning: RuntimeWarning) => void) => {
    let isTold = false;
    return (error: unknown): void => {
      if (isTold) return;
      isTold = true;
      tell({ code, message: `${hook} threw, which changes nothing: ${normaliseError(error).message}` });
    };
  };
  const logFailed = once('LOG_FAILED', 'log', onLogFailed);
  const write: Signals['log'] = (event, attributes = {}) => {
    if (log != null) guarded(() => log(logEntry(event, environment.now(), attributes)), logFailed);
  };
  const warn: Signals['warn'] = (warning) => {
    const { code, message } = warning;
    if (log != null) guarded(() => log(logEntry('warning', environment.now(), { code }, message)), logFailed);
    onWarning(warning);
  };
  const telemetry = given == null ? null : unfailingTelemetry(given, once('TELEMETRY_FAILED', 'telemetry', warn));
  const observer: CommitObserver = {
    committed: (result, timing) => {
      if (result.repeated) return;
      const commit = observedCommit(result, timing);
      logCommit(write, commit);
      telemetry?.committed(commit);
    },
    refused: ({ tenantId, sessionId, event }, { code }, { durationMs }) => {
      telemetry?.refused({ tenantId, sessionId, event: event.type, code, durationMs });
      if (code === 'TOKEN_STALE') write('write.stale', { tenantId, sessionId, event: event.type });
    },
  };
  return {
    telemetry,
    observer: telemetry === null && log == null ? null : observer,
    log: write,
    warn,
    tookOver: (taken) => {
      telemetry?.tookOver(taken);
      if (taken.isLost) write('session.tookOver', { tenantId: taken.tenantId, sessionId: taken.sessionId });
    },
  };
}

function logCommit(write: Signals['log'], commit: ObservedCommit): void {
  const { tenantId, sessionId, agentName, runId, event, sequence, asked, retries, unknownOutcomes } = commit;
  const session = { tenantId, sessionId, agentName, runId, sequence };
  const { from, to, durationMs, tries } = commit;
  write('commit.done', { ...session, event, from, to, durationMs: Math.round(durationMs), tries });
  if (retries !== null) write(`${retries.of}.attemptFailed`, { ...session, count: retries.count });
  if (unknownOutcomes > 0) write('tool.outcomeUnknown', { ...session, count: unknownOutcomes });
  const { approval, answer, unknown } = asked;
  if (commit.errorCode !== null) write('run.failed', { ...session, code: commit.errorCode });
  if (approval + answer + unknown > 0) write('person.asked', { ...session, approval, answer, unknown });
}
