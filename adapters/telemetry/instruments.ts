import type { Attributes, Counter, Histogram, Meter } from '@opentelemetry/api';

/** Powers: `first`, `first * factor` … `count` of them, as the conventions list their buckets. */
function buckets(first: number, factor: number, count: number): number[] {
  return Array.from({ length: count }, (_, place) => Number((first * factor ** place).toPrecision(12)));
}

const CALL_SECONDS = buckets(0.01, 2, 14);
const RUN_SECONDS = buckets(0.1, 2, 13);
const COMMIT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const TOKENS = buckets(1, 4, 14);
const CALLS = buckets(1, 2, 8);
const MESSAGES = [0, 1, 2, 5, 10, 20, 50, 100];

/** Every metric: of the GenAI conventions 0.1.0, two of those before that, and ours. Names, units and attributes are a contract. */
export interface Instruments {
  inferenceDuration: Histogram;
  inputTokens: Counter;
  outputTokens: Counter;
  cacheReadTokens: Counter;
  cacheWriteTokens: Counter;
  reasoningTokens: Counter;
  /** Of the conventions before 0.1.0. */
  operationDuration: Histogram;
  tokenUsage: Histogram;
  agentDuration: Histogram;
  agentInferenceCalls: Histogram;
  agentToolCalls: Histogram;
  toolDuration: Histogram;
  commitDuration: Histogram;
  lockWait: Histogram;
  takeovers: Counter;
  unknownOutcomes: Counter;
  retries: Counter;
  awaitingRounds: Counter;
  staleWrites: Counter;
  inboxDepth: Histogram;
}

export function createInstruments(meter: Meter): Instruments {
  const histogram = (name: string, unit: string, boundaries: number[], description: string) =>
    meter.createHistogram<Attributes>(name, {
      unit,
      description,
      advice: { explicitBucketBoundaries: boundaries },
    });
  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter<Attributes>(name, { unit, description });
  const tokens = (of: string, description: string) =>
    counter(`gen_ai.client.inference.usage.${of}`, '{token}', description);
  return {
    inferenceDuration: histogram('gen_ai.client.inference.duration', 's', CALL_SECONDS, 'Duration of a model call.'),
    inputTokens: tokens('input_tokens', 'Tokens that models read, cached ones included.'),
    outputTokens: tokens('output_tokens', 'Tokens that models wrote, reasoning included.'),
    cacheReadTokens: tokens('cache_read.input_tokens', 'Tokens that were read from a cache of the provider.'),
    cacheWriteTokens: tokens('cache_write.input_tokens', 'Tokens that were written to a cache of the provider.'),
    reasoningTokens: tokens('reasoning.output_tokens', 'Tokens that models wrote to reason.'),
    operationDuration: histogram('gen_ai.client.operation.duration', 's', CALL_SECONDS, 'Duration of a model call.'),
    tokenUsage: histogram('gen_ai.client.token.usage', '{token}', TOKENS, 'Tokens of a model call.'),
    agentDuration: histogram('gen_ai.invoke_agent.duration', 's', RUN_SECONDS, 'Duration of the drive of a run.'),
    agentInferenceCalls: histogram(
      'gen_ai.invoke_agent.inference_calls',
      '{inference_call}',
      CALLS,
      'Model calls in the drive of a run.',
    ),
    agentToolCalls: histogram(
      'gen_ai.invoke_agent.tool_calls',
      '{tool_call}',
      CALLS,
      'Tool calls in the drive of a run.',
    ),
    toolDuration: histogram('gen_ai.execute_tool.duration', 's', CALL_SECONDS, 'Duration of an attempt of a tool.'),
    commitDuration: histogram('turnlock.commit.duration', 's', COMMIT_SECONDS, 'Duration of a commit, all tries.'),
    lockWait: histogram(
      'turnlock.commit.lock_wait',
      's',
      COMMIT_SECONDS,
      "Time until a commit has a connection and the session's lock.",
    ),
    takeovers: counter('turnlock.takeovers', '{takeover}', 'Sessions that were taken over.'),
    unknownOutcomes: counter('turnlock.unknown_outcomes', '{call}', 'Calls of which nothing says how they ended.'),
    retries: counter('turnlock.retries', '{attempt}', 'Attempts that failed and are made again.'),
    awaitingRounds: counter('turnlock.awaiting.rounds', '{round}', 'Times that a person was asked about a call.'),
    staleWrites: counter('turnlock.stale_writes', '{write}', 'Writes that were refused: another one has the session.'),
    inboxDepth: histogram('turnlock.inbox.depth', '{message}', MESSAGES, 'Messages that wait, after one came or went.'),
  };
}
