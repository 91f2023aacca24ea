import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { scripted } from '../../adapters/models/scripted.ts';
import { isVerdict } from '../../adapters/tools/policy.ts';
import type { Tool } from '../../adapters/tools/tool.contract.ts';
import { TurnlockError } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { Json } from '../../machines/event-content.ts';
import { paramsDigest } from '../../persistence/keys/params-digest.ts';
import { schemaDigest } from '../../persistence/keys/schema-digest.ts';
import { childOf } from '../../runtime/agent-tool.ts';
import { checkOptions } from '../../runtime/check-options.ts';
import { defineAgent } from '../../runtime/define-agent.ts';
import { guardsOf } from '../../runtime/guards-of.ts';
import { seedByChance } from '../seed-by-chance.ts';
import { must, shown } from './contract-broken.ts';
import { type ContractCase, contractCases } from './contract-case.ts';
import { endOf, PATIENCE_MS } from './patience.ts';
import {
  attempt,
  contextOf,
  forEach,
  mustFit,
  objections,
  planned,
  policyContextOf,
  reconciled,
} from './tool-trial.ts';

/** What {@link toolContract} takes. */
export interface ToolContract<World> {
  /** The world in which the tool acts, made anew for each call that is tried. Default: there is none, and `make` is given `undefined`. */
  world?: () => World;
  /** Makes the tool in a world. Called once at once, since what the tool declares says which cases there are. */
  make: (world: World) => Tool;
  /** Params that a model may give, and that the tool takes. */
  params: fc.Arbitrary<unknown>;
  /** Params that the tool refuses; `null` where it takes whatever a model gives. */
  invalidParams: fc.Arbitrary<unknown> | null;
  /** How often the tool has acted in a world. Default: nobody can say, and there are no cases that count acts. */
  acts?: (world: World) => number;
  /** Lets nothing in a world answer from then on. Default: nobody can do that, and there is no case of a call that is given up. */
  silence?: (world: World) => void;
  /** How many params each case tries: a whole number from 1 on. Default 50. */
  numRuns?: number;
  /** Tries the same params again. Default: by chance, told with the failure. */
  seed?: number;
  /** Milliseconds after which a call that still goes on counts as one that does not stop. Default 10 000. */
  patienceMs?: number;
}

const OPTIONS = [
  'world',
  'make',
  'params',
  'invalidParams',
  'acts',
  'silence',
  'numRuns',
  'seed',
  'patienceMs',
] satisfies (keyof ToolContract<unknown>)[];

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const DESCRIBED = { limits: LIMITS, session: { sessionId: '00000000-0000-4000-8000-000000000001' } };

type Promises = Record<string, () => Promise<void>>;

/** A contract with its world and the bounds of its trials. */
type Bounded<World> = ToolContract<World> & { world: () => World; trials: { numRuns: number; seed: number } };

/**
 * What a runtime relies on of a tool, whoever made it, as cases for any runner of tests: a definition that an agent takes, params that are
 * taken and refused the same way each time, keys and verdicts that follow from the params, outputs that can be stored, and what the tool's
 * effect class says of a repeat. A tool that acts within a commit, that asks the user, or that is another agent is not executed.
 *
 * @throws OPTIONS_INVALID for a name that is no option, and for `numRuns` with which nothing is tried. What `make` throws.
 */
export function toolContract<World>(contract: ToolContract<World>): ContractCase[] {
  checkOptions(contract, 'toolContract', OPTIONS);
  const { world = () => undefined as World, numRuns = 50, seed = seedByChance() } = contract;
  if (!(Number.isSafeInteger(numRuns) && numRuns >= 1)) {
    throw new TurnlockError('OPTIONS_INVALID', {
      message: 'option not accepted: numRuns of toolContract (wanted a whole number from 1 on)',
    });
  }
  const bounded: Bounded<World> = { ...contract, world, trials: { numRuns, seed } };
  const tool = contract.make(world());
  const isExecuted = tool.effect !== 'transactional' && !tool.isQuestion && childOf(tool) === null;
  return contractCases('a tool', {
    ...ofDefinition(bounded),
    ...ofFunctions(bounded, tool),
    ...(isExecuted ? ofExecution(bounded, tool) : {}),
  });
}

function ofDefinition<World>({ make, world, params, invalidParams, trials }: Bounded<World>): Promises {
  const promises: Promises = {
    'is one that an agent takes': async () => {
      const tool = make(world());
      must(NAME.test(tool.name), `the name ${shown(tool.name)}`);
      must(typeof tool.description === 'string', `the description ${shown(tool.description)}`);
      defineAgent({ name: 'contract', instructions: 'Help.', model: scripted('Yes.'), tools: [tool] });
    },
    'says its input as JSON Schema, the same each time': async () => {
      const [one, other] = [make(world()).inputJsonSchema, make(world()).inputJsonSchema];
      must(typeof one === 'object' && one !== null, `the schema ${shown(one)}`);
      must(isDeepStrictEqual(one, JSON.parse(JSON.stringify(one))), `a schema that is no JSON: ${shown(one)}`);
      must(schemaDigest(one) === schemaDigest(other), `the schemas ${shown(one)} and ${shown(other)}`);
    },
    'takes valid params, and makes the same of them each time': () =>
      forEach(params, trials, async (given) => {
        const [one, other] = [await planned(make(world()), given), await planned(make(world()), given)];
        must(paramsDigest(one) === paramsDigest(other), `${shown(one)} and ${shown(other)}`);
      }),
  };
  if (invalidParams === null) return promises;
  return {
    ...promises,
    'refuses params that do not fit': () =>
      forEach(invalidParams, trials, async (given) => {
        must((await objections(make(world()), given)) !== undefined, 'that they are taken');
      }),
  };
}

/** What the tool's own functions say of a call before it runs. */
function ofFunctions<World>({ make, world, params, acts, trials }: Bounded<World>, declared: Tool): Promises {
  const guards = (tool: Tool, given: Json) => guardsOf(DESCRIBED, tool, given);
  const promises: Promises = {};
  if (declared.once !== null) {
    promises['makes its business key of the params alone'] = () =>
      forEach(params, trials, async (given) => {
        const [one, other] = [make(world()), make(world())].map((tool) => ({ ...tool, cost: null }) as Tool) as [
          Tool,
          Tool,
        ];
        const call = await planned(one, given);
        const keys = [guards(one, call), guards(one, call), guards(other, call)].map(({ once }) => once?.digest);
        must(new Set(keys).size === 1, 'another key each time');
      });
  }
  if (declared.cost !== null) {
    promises['says the same cost for the same params'] = () =>
      forEach(params, trials, async (given) => {
        const tool: Tool = { ...make(world()), once: null };
        const call = await planned(tool, given);
        const [one, other] = [guards(tool, call), guards(tool, call)].map((found) => found.costMicroMoney);
        must(one === other, `the costs ${one} and ${other}`);
      });
  }
  if (declared.policy !== null) {
    promises['judges any params, and the same call the same way'] = () =>
      forEach(params, trials, async (given) => {
        const place = world();
        const tool = make(place);
        const call = await planned(tool, given);
        const before = acts?.(place);
        const judge = (isStart: boolean) => tool.policy?.(structuredClone(call), policyContextOf(tool, isStart));
        const [one, other, atStart] = [await judge(false), await judge(false), await judge(true)];
        for (const verdict of [one, other, atStart]) must(isVerdict(verdict), `the verdict ${shown(verdict)}`);
        must(isDeepStrictEqual(one, other), `the verdicts ${shown(one)} and ${shown(other)}`);
        must(acts?.(place) === before, 'that it has acted');
      });
  }
  return promises;
}

function ofExecution<World>(contract: Bounded<World>, declared: Tool): Promises {
  const { make, world, params, acts, silence, trials, patienceMs = PATIENCE_MS } = contract;
  const promises: Promises = {
    'returns what can be stored, and what it promises': () =>
      forSome(contract, 'returned', async (tool, call) => {
        const end = await attempt(tool, call);
        if (end !== null) await mustFit(tool, end.returned);
        return end !== null;
      }),
    ...(acts === undefined ? {} : ofActs({ ...contract, acts }, declared)),
    ...(declared.reconcile === null ? {} : ofReconcile(contract)),
  };
  if (silence !== undefined) {
    promises['stops soon after its signal aborts'] = async () => {
      const place = world();
      const tool = make(place);
      const [given] = fc.sample(params, { numRuns: 1, seed: trials.seed });
      const call = await planned(tool, given);
      silence(place);
      for (const what of ['execute', 'reconcile'] as const) {
        const aborting = new AbortController();
        const going = (async () => tool[what]?.(structuredClone(call), contextOf(1, aborting.signal)))();
        going.catch(() => undefined);
        aborting.abort(new Error('nobody waits'));
        await endOf(going, { patienceMs, what });
      }
    };
  }
  return promises;
}

/** What the effect class says of acts. */
function ofActs<World>(contract: Bounded<World> & { acts: (world: World) => number }, { effect }: Tool): Promises {
  const { acts, make, world } = contract;
  if (effect === 'readOnly') {
    return {
      'does not act': () =>
        forSome(contract, 'returned', async (tool, call, place) => {
          const before = acts(place);
          const end = await attempt(tool, call);
          must(acts(place) === before, `${acts(place) - before} acts`);
          return end !== null;
        }),
    };
  }
  if (effect !== 'idempotent') return {};
  return {
    'acts once for one key, however often it is called': () =>
      forSome(contract, 'acted', async (tool, call, place) => {
        const before = acts(place);
        await attempt(tool, call);
        const once = acts(place) - before;
        await attempt(make(place), call, contextOf(2));
        const twice = acts(place) - before;
        must(once === 0 || twice === once, `${once} acts after the first attempt, ${twice} after the second`);
        return once > 0;
      }),
    'acts once for one key, where two attempts are at work at once': () =>
      forSome(contract, 'acted', async (tool, call, place) => {
        const [alone, before] = [world(), acts(place)];
        const aloneBefore = acts(alone);
        await attempt(make(alone), call);
        const once = acts(alone) - aloneBefore;
        await Promise.all([attempt(tool, call), attempt(make(place), call, contextOf(2))]);
        const both = acts(place) - before;
        must(both === once, `${once} acts of one attempt, ${both} of both`);
        return once > 0;
      }),
  };
}

function ofReconcile<World>(contract: Bounded<World>): Promises {
  const { acts } = contract;
  return {
    'says of a call that was never made that it is not done, or that it cannot tell': () =>
      forEachCall(contract, async (tool, call, place) => {
        const before = acts?.(place);
        const { type } = await reconciled(tool, call);
        must(type !== 'done', type);
        must(acts?.(place) === before, 'that it has acted');
      }),
    'says of a call that has returned that it is done, or that it cannot tell': () =>
      forSome(contract, 'returned', async (tool, call, place) => {
        if ((await attempt(tool, call)) === null) return false;
        const before = acts?.(place);
        const { type } = await reconciled(tool, call);
        must(type !== 'notDone', type);
        must(acts?.(place) === before, 'that it has acted');
        return true;
      }),
  };
}

/** Tries each of some params in a world of its own. */
async function forEachCall<World>(
  { make, world, params, trials }: Bounded<World>,
  check: (tool: Tool, call: Json, place: World) => Promise<void>,
): Promise<void> {
  await forEach(params, trials, async (given) => {
    const place = world();
    const tool = make(place);
    await check(tool, await planned(tool, given), place);
  });
}

/** The same; `check` says whether the tool did what it is tried for, which must be so for some of the params. */
async function forSome<World>(
  contract: Bounded<World>,
  did: string,
  check: (tool: Tool, call: Json, place: World) => Promise<boolean>,
): Promise<void> {
  let times = 0;
  await forEachCall(contract, async (...call) => {
    if (await check(...call)) times += 1;
  });
  must(times > 0, `none of ${contract.trials.numRuns} params for which it ${did}`);
}
