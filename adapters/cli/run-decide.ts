import { TurnlockError } from '../../errors.ts';
import { commitEvent } from '../../persistence/commit-event.ts';
import type { CommittedSession } from '../../persistence/committed-session.ts';
import type { Decided } from '../../persistence/decide-approval.ts';
import type { SessionKey } from '../../persistence/read-session.ts';
import { readSession } from '../../persistence/read-session-by-key.ts';
import type { Store } from '../../persistence/session-transaction.ts';
import { checkDenial, checkPlainApproval, type Deciding } from '../../runtime/check-decision.ts';
import type { Run } from '../../runtime/run.ts';
import type { Session } from '../../runtime/session-handle.ts';
import { chooseSession, readId } from './choose-session.ts';
import { withStore } from './open-store.ts';
import { knowsAgent, printResult, printSettled } from './print-decided.ts';
import { readSettings, type Settings } from './read-settings.ts';
import { shareDatabase } from './shared-database.ts';
import type { SharedOptions } from './shared-options.ts';
import { openTerminal } from './terminal.ts';
import { withRuntime } from './with-runtime.ts';

interface DecideOptions extends SharedOptions {
  session: string;
  tenant?: string;
  digest?: string;
  role?: string[];
  by: string;
}

/** What `turnlock approve` takes. */
export type ApproveCommandOptions = DecideOptions & { params?: string };

/** What `turnlock deny` takes. */
export type DenyCommandOptions = DecideOptions & { reason: string };

interface Way {
  /** With the session's agent at hand, which drives on. */
  decide(session: Session): Promise<Run>;
  /** Without it: the decision alone. */
  decided(store: Store): Decided;
}

/** Does what `turnlock approve` says. */
export async function runApprove(execution: string, options: ApproveCommandOptions): Promise<void> {
  const executionId = readId(execution, 'execution');
  const amended = options.params === undefined ? {} : { params: readJson(options.params) };
  await decide(executionId, options, {
    decide: (session) => session.approve(executionId, { ...who(options), ...amended }),
    decided: () => {
      if (options.params === undefined) return checkPlainApproval(executionId, who(options));
      throw new TurnlockError('CONFIG_INVALID', {
        message: 'no agents are known (found none, wanted that of the session: its tool accepts the params)',
        hint: 'Export `agents` from turnlock.config.ts, or approve the params as they are.',
      });
    },
  });
}

/** Does what `turnlock deny` says. */
export async function runDeny(execution: string, options: DenyCommandOptions): Promise<void> {
  const executionId = readId(execution, 'execution');
  const { reason } = options;
  await decide(executionId, options, {
    decide: (session) => session.deny(executionId, { ...who(options), reason }),
    decided: ({ limits }) => checkDenial(limits, executionId, { ...who(options), reason }),
  });
}

function who({ by, role, digest }: DecideOptions): Deciding {
  return { by, ...(role === undefined ? {} : { roles: role }), ...(digest === undefined ? {} : { digest }) };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: 'option not accepted: --params (found what is no JSON, wanted JSON)',
      hint: `Text stands in quotes, as in '"done"'.`,
    });
  }
}

async function decide(executionId: string, options: DecideOptions, way: Way): Promise<void> {
  const given = await readSettings(options, { agents: true, mustExist: true });
  const terminal = openTerminal(options);
  await using shared = shareDatabase(given.database);
  const settings: Settings = { ...given, database: shared.adapter };
  const { key, decided } = await withStore(settings, async (store) => {
    const key = await chooseSession(store, options.session, options.tenant);
    const { session } = await readSession(store, key);
    if (knowsAgent(settings, session)) return { key, decided: null };
    return { key, decided: await commitDecision(store, key, way.decided(store)) };
  });
  if (decided !== null) {
    printSettled(terminal, executionId, decided, 'decided');
    return;
  }
  const result = await withRuntime(settings, terminal, async (runtime) => {
    const run = await way.decide(await runtime.session(key));
    terminal.note('Decided. The session goes on…');
    return run.result();
  });
  printResult(terminal, executionId, result);
}

async function commitDecision(store: Store, key: SessionKey, decided: Decided): Promise<CommittedSession> {
  const { session } = await commitEvent(store, {
    ...key,
    eventId: store.environment.uuid(),
    cause: 'operator',
    event: { type: 'decideApproval', decided },
    claim: { type: 'none' },
  });
  return session;
}
