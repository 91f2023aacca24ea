import type { SessionKey } from '../../persistence/read-session.ts';
import type { SharedOptions } from './shared-options.ts';
import { shellQuote } from './shell-quote.ts';

/** A call that waits for a person. */
export interface WaitingCall extends SessionKey {
  executionId: string;
  reason: 'unknown' | 'approval' | 'answer';
  /** Of the params: names them in a decision. */
  digest: string;
}

/**
 * The commands that decide about a call or settle it, one for each way, ready to be pasted but for what only a person knows, which stands in capitals. How the
 * database is found is repeated as it was given; a password is not.
 */
export function settleCommands(call: WaitingCall, given: Pick<SharedOptions, 'config' | 'database'>): string[] {
  const { executionId, sessionId, tenantId, reason, digest } = call;
  const where = ['--session', sessionId, '--tenant', shellQuote(tenantId), ...placeOf(given), '--by', 'WHO'].join(' ');
  const ways = ["--succeeded 'OUTPUT_AS_JSON'", "--failed 'REASON'", ...(reason === 'unknown' ? ['--run-again'] : [])];
  const decisions =
    reason === 'approval'
      ? [`approve ${executionId} --digest ${shellQuote(digest)}`, `deny ${executionId} --reason 'REASON'`]
      : [];
  const settlements = ways.map((way) => `settle ${executionId} ${way}`);
  return [...decisions, ...settlements].map((command) => `turnlock ${command} ${where}`);
}

/** The command that continues sessions that nobody holds. */
export function recoverCommandText(given: Pick<SharedOptions, 'config' | 'database'>): string {
  return ['turnlock recover', ...placeOf(given)].join(' ');
}

function placeOf({ config, database }: Pick<SharedOptions, 'config' | 'database'>): string[] {
  const parts = config === undefined ? [] : ['--config', shellQuote(config)];
  if (database === undefined) return parts;
  const isSecret = /^\w+:\/\/[^/@]*:[^/@]*@|[?&]password=/.test(database);
  return [...parts, '--database', isSecret ? '"$TURNLOCK_DATABASE_URL"' : shellQuote(database)];
}
