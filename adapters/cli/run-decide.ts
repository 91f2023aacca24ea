import { TurnlockError } from '../../errors.ts';
import { checkDenial, checkPlainApproval, type Deciding } from '../../runtime/check-decision.ts';
import { readId } from './choose-session.ts';
import { decideWithoutAgent } from './decide-without-agent.ts';
import { type CallOptions, sayAboutCall } from './say-about-call.ts';

interface DecideOptions extends CallOptions {
  digest?: string;
  approval?: string;
  role?: string[];
  by: string;
}

/** What `turnlock approve` takes. */
export type ApproveCommandOptions = DecideOptions & { params?: string };

/** What `turnlock deny` takes. */
export type DenyCommandOptions = DecideOptions & { reason: string };

/** Does what `turnlock approve` says. */
export async function runApprove(execution: string, options: ApproveCommandOptions): Promise<void> {
  const executionId = readId(execution, 'execution');
  const amended = options.params === undefined ? {} : { params: readJson(options.params) };
  await sayAboutCall(executionId, options, {
    what: 'decided',
    withAgent: (session) => session.approve(executionId, { ...who(options), ...amended }),
    alone: (store, key) => {
      if (options.params === undefined)
        return decideWithoutAgent(store, key, checkPlainApproval(executionId, who(options)));
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
  await sayAboutCall(executionId, options, {
    what: 'decided',
    withAgent: (session) => session.deny(executionId, { ...who(options), reason }),
    alone: (store, key) => {
      return decideWithoutAgent(store, key, checkDenial(store.limits, executionId, { ...who(options), reason }));
    },
  });
}

function who({ by, role, digest, approval }: DecideOptions): Deciding {
  return {
    by,
    ...(role === undefined ? {} : { roles: role }),
    ...(digest === undefined ? {} : { digest }),
    ...(approval === undefined ? {} : { approvalId: readId(approval, 'approval') }),
  };
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
