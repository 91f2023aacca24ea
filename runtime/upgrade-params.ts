import type { Tool } from '../adapters/tools/tool.contract.ts';
import { isTurnlockError } from '../errors.ts';
import type { Json, UpgradedParams } from '../machines/event-content.ts';
import { paramsDigest } from '../persistence/keys/params-digest.ts';
import { paramsProblem, presentParams, type StoredParams } from '../persistence/present-params.ts';
import { normaliseError } from '../persistence/values/normalise-error.ts';
import { normaliseJson } from '../persistence/values/normalise-json.ts';
import { normaliseText } from '../persistence/values/normalise-text.ts';
import type { DriveContext } from './drive-context.ts';
import { validate } from './validate.ts';

/** What upgrading needs of a drive. */
export type Upgrading = Pick<DriveContext, 'environment' | 'limits' | 'signal'>;

/** The params with which a call runs in this build. */
export interface ReadyParams {
  params: Json;
  /** Their digest: where it is not that of the row, an upgrade changed them. */
  digest: string;
  /** What the start's commit stores beside the params as they were written; `null` where nothing was upgraded now. */
  upgrade: UpgradedParams | null;
}

/** Why a call cannot run in this build, for the person who decides. */
export interface NotReady {
  problem: { code: 'TOOL_UNKNOWN' | 'UPGRADE_FAILED' | 'PARAMS_CHANGED'; message: string };
}

/** Bytes of a problem's text, beyond which it is cut. */
const MAX_PROBLEM_BYTES = 4096;

/**
 * The params of a waiting call as `tool` takes them today: those that were stored, or, where they are of an older version, upgraded step by
 * step. What was stored is what its version's schema made of the model's input, so it is the first upgrade's input as it is; what each
 * upgrade returns is validated by the next schema. Upgrades run outside any transaction, for no longer than the tool may take.
 *
 * Params that are not those of their digest were changed past the runtime, and are not run.
 *
 * Never rejects for what an upgrade or a validator does: then the call does not run, and a person is asked.
 */
export async function paramsToRun(
  upgrading: Upgrading,
  tool: Tool | undefined,
  row: StoredParams,
): Promise<ReadyParams | NotReady> {
  const { toolName } = row;
  if (tool === undefined) return notReady('TOOL_UNKNOWN', `This build has no tool named ${toolName}.`);
  const { version, params, digest } = presentParams(row);
  const problem = paramsProblem({ params, digest });
  if (problem !== null) return { problem };
  if (version === tool.version) return { params, digest, upgrade: null };
  const timeoutMs = tool.timeoutMs ?? upgrading.limits.toolTimeoutMs;
  const made = await inTime(upgrading, timeoutMs, upgraded(upgrading, tool, version, params));
  if ('problem' in made) {
    return notReady('UPGRADE_FAILED', `Its params of version ${version} could not be upgraded: ${made.problem}`);
  }
  const paramsNow = paramsDigest(made.params);
  const upgrade = { toVersion: tool.version, paramsDigest: paramsNow, content: { params: made.params } };
  return { params: made.params, digest: paramsNow, upgrade };
}

/** Whether an approval that was given for params of the digest `approved` is good for what would run: the same, or the tool says so. */
export function approvalHolds(tool: Tool, { digest }: ReadyParams, approved: string): boolean {
  return digest === approved || tool.keepsApproval;
}

type Made = { params: Json } | { problem: string };

async function upgraded({ limits }: Upgrading, tool: Tool, version: number, params: Json): Promise<Made> {
  const steps = tool.versions.slice(version);
  if (version < 1 || steps.length === 0) return { problem: `this build knows version ${tool.version} of the tool` };
  let value: unknown = structuredClone(params);
  try {
    for (const [place, { schema, upgrade }] of steps.entries()) {
      const result = await validate(schema, await upgrade?.(value));
      if (result.issues !== undefined) {
        return {
          problem: `what the upgrade to version ${version + place + 1} made does not fit its schema: ${result.issues}`,
        };
      }
      value = result.value;
    }
  } catch (thrown) {
    return { problem: normaliseError(thrown, limits).message };
  }
  return storable({ limits }, value);
}

function storable({ limits }: Pick<Upgrading, 'limits'>, made: unknown): Made {
  try {
    const { value } = normaliseJson(made, {
      maxBytes: limits.maxParamsBytes,
      maxDepth: limits.maxDepth,
      name: 'params',
    });
    return { params: value };
  } catch (error) {
    if (!isTurnlockError(error)) throw error;
    return { problem: error.message };
  }
}

async function inTime({ environment, signal }: Upgrading, timeoutMs: number, work: Promise<Made>): Promise<Made> {
  const over = new AbortController();
  const timer = environment
    .sleep(timeoutMs, AbortSignal.any([over.signal, signal]))
    .catch(() => undefined)
    .then((): Made => ({ problem: `the upgrade did not end within ${timeoutMs} ms` }));
  try {
    return await Promise.race([work, timer]);
  } finally {
    over.abort();
  }
}

function notReady(code: NotReady['problem']['code'], text: string): NotReady {
  const { value: message } = normaliseText(text, { maxBytes: MAX_PROBLEM_BYTES, name: 'problem' }, 'truncate');
  return { problem: { code, message } };
}
