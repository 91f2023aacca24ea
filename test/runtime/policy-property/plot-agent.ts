import { z } from 'zod';
import type { ModelRequest, ModelResponse, ModelToolCall, ModelTurn } from '../../../adapters/models/model.contract.ts';
import {
  type Agent,
  allow,
  cannotTell,
  defineAgent,
  defineTool,
  deny,
  done,
  notDone,
  type Policy,
  requireApproval,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  ToolError,
  type TransactionalContext,
} from '../../../index.ts';
import { INSERT } from '../effects/transactional-scene.ts';
import type { Ledger } from './ledger.ts';
import type { CallPlot, Ending, MessagePlot, Plot, ToolPlot, Verdict } from './plot.ts';

/** How long people may decide where a question expires, and what a brief attempt has, in milliseconds. */
const EXPIRES_IN_MS = 60_000;
const BRIEF_MS = 25;
const LONG_MS = 60_000;

const input = z.object({ n: z.int().min(1).max(3) });

type Params = z.infer<typeof input>;

/** Name of a tool of a plot. */
export function nameOf(place: number): string {
  return `tool${place}`;
}

/** What the policy of a tool says. */
export function verdictOf({ verdicts }: ToolPlot, n: number, isStart: boolean): Verdict {
  const { asked, atStart } = verdicts[n - 1]!;
  return isStart ? atStart : asked;
}

/** How repeats of a tool are guarded: those whose repeats do no harm take no `onRepeat`. */
export function guardOf({ effect, guard }: ToolPlot): ToolPlot['guard'] {
  const isHarmless = effect === 'readOnly' || effect === 'idempotent';
  if (isHarmless && ['ask', 'answer', 'run'].includes(guard)) return 'none';
  return guard === 'none' && !isHarmless ? 'ask' : guard;
}

/** What one process knows of its own death: nothing of it acts once it is `isGone`. */
export interface Mortal {
  alive(): Promise<void>;
  isGone(): boolean;
}

/** The agent of a plot, as one process has it. */
export function plotAgent(name: string, { tools }: Plot, ledger: Ledger, mortal: Mortal): Agent {
  const model = {
    modelId: 'scripted',
    generate: async (request: ModelRequest): Promise<ModelResponse> => {
      await mortal.alive();
      const problem = whatIsInvalid(request.turns);
      if (problem !== null) ledger.invalid.push(problem);
      return answerTo(request);
    },
  };
  const all = tools.map((tool, place) => toTool(nameOf(place), tool, ledger, mortal));
  return defineAgent({ name, model, instructions: 'Do it.', tools: all });
}

function toTool(name: string, tool: ToolPlot, ledger: Ledger, mortal: Mortal): Tool {
  const { effect, retry, repeatable } = tool;
  const guard = guardOf(tool);
  const perSession = guard === 'oncePerSession';
  const definition = {
    name,
    description: `Does ${name}.`,
    inputSchema: input,
    repeatable,
    timeoutMs: hasNoTime(tool) ? BRIEF_MS : LONG_MS,
    policy: policyOf(tool),
    ...(retry === null ? {} : { retry: { attempts: retry, backoff: { initialMs: 0 } } }),
    ...(perSession || guard === 'oncePerTenant'
      ? { once: { per: perSession ? 'session' : 'tenant', key: ({ n }: Params) => `order ${n}` } as const }
      : {}),
    ...(guard === 'ask' || guard === 'answer' || guard === 'run' ? { onRepeat: guard } : {}),
  };
  const perform = { tool, name, ledger, mortal };
  if (effect === 'transactional') {
    const execute = (params: Params, context: TransactionalContext) => book(perform, params, context);
    // An empty pool of time would only roll it back.
    return defineTool({ ...definition, timeoutMs: LONG_MS, effect, execute });
  }
  const execute = (params: Params, context: ToolContext) => act(perform, params, context);
  if (effect !== 'reconcilable') return defineTool({ ...definition, effect, execute } as ToolDefinition);
  const reconcile = (_: unknown, { executionId }: ToolContext) => {
    if (tool.reconcile === 'cannotTell') return cannotTell('nobody keeps a list');
    return ledger.hasActed(executionId) ? done('found') : notDone();
  };
  return defineTool({ ...definition, effect, execute, reconcile } as ToolDefinition);
}

/** Whether its attempts run out of time. What is reconciled is asked about only then, and must not be waited for. */
function hasNoTime({ isBrief, effect }: ToolPlot): boolean {
  return isBrief || effect === 'reconcilable';
}

function policyOf(tool: ToolPlot): Policy {
  return (params, { isStart }) => {
    switch (verdictOf(tool, (params as Params).n, isStart)) {
      case 'allow':
        return allow();
      case 'deny':
        return deny('Not this one.');
      case 'ask':
        return tool.expiry === 'never'
          ? requireApproval()
          : requireApproval({ expiresInMs: EXPIRES_IN_MS, onExpiry: tool.expiry });
    }
  };
}

interface Performance {
  tool: ToolPlot;
  name: string;
  ledger: Ledger;
  mortal: Mortal;
}

async function act({ tool, name, ledger, mortal }: Performance, { n }: Params, context: ToolContext): Promise<string> {
  const { executionId, sessionId, runId, attempt, idempotencyKey: key, signal } = context;
  // What a process that was given up still sends is refused by its receiver: nobody else could know.
  if (mortal.isGone()) throw new Error('refused');
  const ending: Ending = tool.endings[attempt - 1] ?? 'acts';
  const acts = ending !== 'refuses' && ending !== 'wantsRetry' && ending !== 'losesRequest';
  if (acts) ledger.act({ executionId, sessionId, runId, tool: name, n, key, attempt });
  await mortal.alive();
  if (ending === 'hangs') await ledger.hold(signal, hasNoTime(tool));
  if (ending === 'hangsDeafly') await ledger.hold(null, hasNoTime(tool));
  complain(ending);
  return `did ${n}`;
}

/** What it writes is part of the commit, or of nothing: it writes before it fails. */
async function book(
  { tool }: Performance,
  { n }: Params,
  { transaction, executionId, attempt, idempotencyKey }: TransactionalContext,
): Promise<string> {
  await transaction.query(INSERT, [`${idempotencyKey} ${n}`, executionId]);
  complain(tool.endings[attempt - 1] ?? 'acts');
  return `booked ${n}`;
}

function complain(ending: Ending): void {
  if (ending === 'refuses') throw new Error('out of order');
  if (ending === 'wantsRetry') throw new ToolError('busy', { retryable: true });
  if (ending === 'losesAnswer' || ending === 'losesRequest') throw new ToolError('no answer', { outcome: 'unknown' });
}

/** The text of a message, by which a model answers as the plot says. */
export function textOf({ tools }: Plot, { answers }: Pick<MessagePlot, 'answers'>): string {
  const toCall = ({ tool, n, flaw }: CallPlot): ModelToolCall => {
    const toolName = flaw === 'ghost' ? 'ghost' : nameOf(tool % tools.length);
    if (flaw === 'noJson') return { toolName, input: null, invalidInput: '{"n":' };
    return { toolName, input: { n: flaw === 'misfit' ? 'many' : n } };
  };
  return JSON.stringify(answers.map((calls) => calls.map(toCall)));
}

/** The last message says what the model answers, and the history which of the answers is due. */
function answerTo({ turns }: ModelRequest): ModelResponse {
  const since = turns.slice(turns.findLastIndex(({ role }) => role === 'user'));
  const answers = JSON.parse(since[0]!.text) as ModelToolCall[][];
  const toolCalls = answers[since.filter(({ role }) => role === 'assistant').length];
  return toolCalls === undefined ? { text: 'done' } : { text: 'working', toolCalls };
}

/** Every call of an assistant turn is answered, once and in order, before anything else is said. */
function whatIsInvalid(turns: readonly ModelTurn[]): string | null {
  let due: number[] = [];
  for (const { role, parts, answers, turnIndex } of turns) {
    if (role === 'tool') {
      if (due.shift() !== answers?.ordinal) return `turn ${turnIndex} answers call ${answers?.ordinal}`;
    } else if (due.length > 0) {
      return `turn ${turnIndex} comes before the answers of calls ${due.join(', ')}`;
    }
    if (role === 'assistant') due = parts.flatMap((part) => (part.type === 'toolCall' ? [part.ordinal] : []));
  }
  return due.length === 0 ? null : `calls ${due.join(', ')} have no answer`;
}
