import { inspect, isDeepStrictEqual } from 'node:util';
import type {
  Model,
  ModelDelta,
  ModelRequest,
  ModelResponse,
  ModelToolCall,
} from '../../adapters/models/model.contract.ts';
import { isTurnlockError } from '../../errors.ts';
import { MAX_CHARACTERS, resolveLimits } from '../../limits.ts';
import { normaliseJson } from '../../persistence/values/normalise-json.ts';
import { checkAnswer, checkDelta } from '../../runtime/check-answer.ts';
import { checkOptions } from '../../runtime/check-options.ts';
import { must, shown } from './contract-broken.ts';
import { type ContractCase, contractCases } from './contract-case.ts';
import { frozen } from './frozen.ts';
import { answeredTurns, historyOfEveryKind, requestOf, said, TOOLS } from './model-requests.ts';
import { STORABLE_ODD_TEXTS } from './odd-texts.ts';
import { endOf, PATIENCE_MS, unhandledDuring, until } from './patience.ts';

/** What the provider behind a model says, when it answers. */
export interface ProviderAnswer {
  /** The text, in the pieces in which it comes; none: there is no text. */
  pieces: readonly string[];
  /** Calls after the text, in the form in which the model is to return them. One with `invalidInput` is sent with that as its arguments. */
  toolCalls: readonly ModelToolCall[];
  /** Tokens, as the provider counts them. */
  usage: { inputTokens: number; outputTokens: number };
}

/** What the provider behind a model does each time that it is asked. */
export type ProviderAct =
  | { type: 'answers'; answer: ProviderAnswer }
  /** It refuses: for the time being, as with HTTP 503, or for good, as with HTTP 401. */
  | { type: 'fails'; isRetryable: boolean }
  /** It takes the request and says nothing, until the request is given up. */
  | { type: 'hangs' };

/** A model over a provider of which a test knows all. */
export interface ModelUnderTest {
  model: Model;
  /** What the provider was asked so far, oldest first, as texts or as objects: texts are looked for in it. */
  asked: () => readonly unknown[];
}

/** What {@link modelContract} takes. */
export interface ModelContract {
  /** Makes the model, several times for some cases, over a provider that does what `act` says. No provider of the world is needed. */
  make: (act: ProviderAct) => ModelUnderTest | Promise<ModelUnderTest>;
  /** Milliseconds after which a call that still goes on counts as one that does not stop. Default 10 000. */
  patienceMs?: number;
}

const CALLS: readonly ModelToolCall[] = [
  { toolName: 'lookUp', input: { order: '42', lines: [1, { a: null }] }, providerCallId: 'call_1' },
  { toolName: 'note', input: { text: 'a "quoted" 😀 text' }, providerCallId: 'call_2' },
  { toolName: 'lookUp', input: {}, providerCallId: 'call_3' },
];

const BROKEN_CALL: ModelToolCall = {
  toolName: 'lookUp',
  input: '{"order": ',
  invalidInput: '{"order": ',
  providerCallId: 'call_1',
};

/** How often a model is asked side by side. */
const AT_ONCE = 4;

/**
 * What a runtime relies on of a model, as cases for any runner of tests: what its provider says comes back as it was said, what it is asked
 * reaches its provider, any valid history is taken, errors say whether another attempt may help, and a call ends when its signal aborts.
 *
 * @throws OPTIONS_INVALID for a name that is no option.
 */
export function modelContract(contract: ModelContract): ContractCase[] {
  const { make, patienceMs = PATIENCE_MS } = checkOptions(contract, 'modelContract', ['make', 'patienceMs']);
  const answering = (answer: Partial<ProviderAnswer>) =>
    make({
      type: 'answers',
      answer: { pieces: [], toolCalls: [], usage: { inputTokens: 12, outputTokens: 5 }, ...answer },
    });
  const abortedCall = async (
    model: Model,
    signal: AbortSignal,
    meanwhile: () => Promise<void> | void = () => undefined,
  ) => {
    const call = (async () => model.generate(requestOf([said('Hello')]), { signal, emit: () => undefined }))();
    call.catch(() => undefined);
    await meanwhile();
    const end = await endOf(call, { patienceMs, what: 'the call' });
    must(end.status === 'rejected', `an answer: ${shown(end)}`);
  };
  const hanging = async () => {
    const { model, asked } = await make({ type: 'hangs' });
    const aborting = new AbortController();
    await abortedCall(model, aborting.signal, async () => {
      await until(() => asked().length > 0, { patienceMs, what: 'request to its provider' });
      aborting.abort(new Error('nobody waits'));
    });
  };
  const failing = async (isRetryable: boolean): Promise<unknown> => {
    const { model } = await make({ type: 'fails', isRetryable });
    const end = await endOf(generate(model), { patienceMs, what: 'the call' });
    if (end.status === 'rejected') return end.reason;
    return must(false, `an answer: ${shown(end.value)}`);
  };
  return contractCases('a model', {
    'says what it is, the same from each instance': async () => {
      const [{ model: one }, { model: other }] = [await answering({}), await answering({})];
      const { modelId, provider } = one;
      const isId = typeof modelId === 'string' && modelId !== '' && [...modelId].length <= MAX_CHARACTERS.modelId;
      must(isId, `the model id ${shown(modelId)}, wanted 1 to ${MAX_CHARACTERS.modelId} characters`);
      must(provider === undefined || typeof provider === 'string', `the provider ${shown(provider)}`);
      must(other.modelId === modelId, `the model ids ${shown(modelId)} and ${shown(other.modelId)}`);
    },
    'returns the text that its provider said, to the letter': async () => {
      for (const pieces of [['Hello', ', ', 'world.'], ...STORABLE_ODD_TEXTS.map(({ text }) => [text]), []]) {
        const text = pieces.join('');
        const { response } = await generate((await answering({ pieces })).model);
        must((response.text ?? '') === text, `${shown(response.text)} for ${shown(text)}`);
        must(response.parts === undefined || textOf(response) === text, `the parts ${shown(response.parts)}`);
      }
    },
    'shows pieces that make up the text, where it shows any': async () => {
      const { response, deltas } = await generate((await answering({ pieces: ['Hel', 'lo, ', '😀'] })).model);
      must(isShown(deltas, response), `the pieces ${shown(deltas)} of ${shown(response.text)}`);
    },
    'asks for the calls that its provider asked for, in their order': async () => {
      const { response } = await generate((await answering({ pieces: ['I look.'], toolCalls: CALLS })).model);
      const { toolCalls = [] } = response;
      must(toolCalls.length === CALLS.length, `${toolCalls.length} calls of ${CALLS.length}`);
      for (const [place, { toolName, input, providerCallId: id, invalidInput }] of toolCalls.entries()) {
        const call = CALLS[place] as ModelToolCall;
        must(toolName === call.toolName && isDeepStrictEqual(input, call.input), `${shown(toolCalls[place])}`);
        must(id === undefined || id === call.providerCallId, `the id ${shown(id)} for ${shown(call.providerCallId)}`);
        must(invalidInput === undefined, `arguments that are no JSON: ${shown(invalidInput)}`);
      }
    },
    'keeps arguments that are no JSON as they came': async () => {
      const { response } = await generate((await answering({ toolCalls: [BROKEN_CALL] })).model);
      const [call] = response.toolCalls ?? [];
      must(call?.invalidInput === BROKEN_CALL.invalidInput, `the call ${shown(call)}`);
    },
    'counts tokens as its provider does, where it counts them': async () => {
      const usage = { inputTokens: 1_234, outputTokens: 7 };
      const { response } = await generate((await answering({ pieces: ['x'], usage })).model);
      for (const name of ['inputTokens', 'outputTokens'] as const) {
        const count = response.usage?.[name] ?? usage[name];
        must(count === usage[name], `${shown(count)} ${name} of ${usage[name]}`);
      }
    },
    'tells its provider the instructions, the conversation and the tools': async () => {
      const { model, asked } = await answering({ pieces: ['x'] });
      const turns = historyOfEveryKind();
      await generate(model, requestOf(turns, { instructions: 'instructions-of-the-agent', tools: TOOLS }));
      const seen = inspect(asked(), EVERYTHING);
      const told = ['instructions-of-the-agent', ...turns.map(({ text }) => text)];
      for (const text of [...told, ...TOOLS.flatMap(({ name, description }) => [name, description])]) {
        must(seen.includes(text), `nothing of ${shown(text)} in what it was asked`);
      }
      let from = 0;
      for (const { text } of turns.filter(({ role }) => role !== 'system')) {
        const at = seen.indexOf(text, from);
        must(at >= 0, `${shown(text)} before what was said earlier`);
        from = at + text.length;
      }
    },
    'takes odd texts in the conversation': async () => {
      const { model } = await answering({ pieces: ['x'] });
      for (const text of STORABLE_ODD_TEXTS.map((odd) => odd.text).filter((odd) => odd !== '')) {
        await generate(model, requestOf([said(text), ...answeredTurns([], text), said(text)], { instructions: text }));
      }
    },
    'takes its own answer back, with the results of its calls': async () => {
      const { model } = await answering({ pieces: ['I look.'], toolCalls: [...CALLS, BROKEN_CALL] });
      const first = await generate(model, requestOf([said('Hello')], { tools: TOOLS }));
      const turns = [said('Hello'), ...storedTurns(first.response)];
      const { response } = await generate(model, requestOf(turns, { tools: TOOLS }));
      must(response.toolCalls?.length === CALLS.length + 1, `the answer ${shown(response)}`);
    },
    'takes an agent’s output as JSON Schema': async () => {
      const { model } = await answering({ pieces: ['{"total":1}'] });
      const outputSchema = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] };
      const { response } = await generate(model, requestOf([said('Hello')], { outputSchema }));
      must(response.text === '{"total":1}', `the text ${shown(response.text)}`);
    },
    'leaves the request as it was given': async () => {
      const { model } = await answering({ pieces: ['x'] });
      await generate(model, frozen(requestOf(historyOfEveryKind(), { tools: TOOLS })));
    },
    'answers several conversations at once, and again, each by itself': async () => {
      const pieces = ['Hel', 'lo'];
      const { model } = await answering({ pieces, toolCalls: CALLS });
      const ask = (place: number) => generate(model, requestOf([said(`Hello ${place}`)], { tools: TOOLS }));
      const all = await Promise.all(Array.from({ length: AT_ONCE }, (_, place) => ask(place)));
      for (const { response, deltas } of [...all, await ask(AT_ONCE)]) {
        must(response.text === 'Hello', `the text ${shown(response.text)} of one of them`);
        must(response.toolCalls?.length === CALLS.length, `${response.toolCalls?.length} calls of one of them`);
        must(isShown(deltas, response), `the pieces ${shown(deltas)} of one of them`);
      }
    },
    'rejects for a signal that has aborted': async () => {
      await abortedCall((await make({ type: 'hangs' })).model, AbortSignal.abort(new Error('nobody waits')));
    },
    'rejects soon after its signal aborts': hanging,
    'leaves no rejection unhandled': async () => {
      const reasons = await unhandledDuring(async () => {
        await hanging();
        await failing(true);
        await failing(false);
      });
      must(reasons.length === 0, `${reasons.map(shown).join(', ')}`);
    },
    'rejects so that another attempt is made, where that may help': async () => {
      const thrown = await failing(true);
      must(!isTurnlockError(thrown) || thrown.retryable, `an error that says retryable: false: ${shown(thrown)}`);
    },
    'says that no further attempt helps, where its provider refuses for good': async () => {
      const thrown = await failing(false);
      must(isTurnlockError(thrown), `no TurnlockError: ${shown(thrown)}`);
      must(!thrown.retryable, `retryable: true of ${shown(thrown)}`);
    },
  });
}

const EVERYTHING = {
  depth: null,
  maxStringLength: null,
  maxArrayLength: null,
  breakLength: Number.POSITIVE_INFINITY,
} as const;

/** The answer, once it has the promised form and can be stored, and what was shown meanwhile. */
async function generate(
  model: Model,
  request: ModelRequest = requestOf([said('Hello')]),
): Promise<{ response: ModelResponse; deltas: ModelDelta[] }> {
  const deltas: ModelDelta[] = [];
  const emit = (delta: unknown) => void deltas.push(delta as ModelDelta);
  const answer = await model.generate(request, { signal: new AbortController().signal, emit });
  for (const delta of deltas) checkDelta(delta, model.modelId);
  const response = checkAnswer(answer, model.modelId);
  const { maxReplyBytes: maxBytes, maxDepth } = resolveLimits();
  for (const name of ['parts', 'usage'] as const) {
    if (response[name] != null) normaliseJson(response[name], { maxBytes, maxDepth, name });
  }
  return { response, deltas };
}

function textOf({ parts = [] }: ModelResponse): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function isShown(deltas: readonly ModelDelta[], { text = '' }: ModelResponse): boolean {
  const pieces = deltas.filter(({ type }) => type === 'text').map((delta) => delta.text);
  return pieces.length === 0 || pieces.join('') === text;
}

/** An answer as the runtime stores it: as JSON, its calls behind its other parts, each with its result. */
function storedTurns({ text = '', parts, toolCalls = [] }: ModelResponse): ReturnType<typeof answeredTurns> {
  const stored = parts ?? (text === '' ? [] : [{ type: 'text' as const, text }]);
  return answeredTurns(toolCalls, text, JSON.parse(JSON.stringify(stored)));
}
