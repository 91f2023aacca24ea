import type { Json, TokenUsage } from '../../../machines/event-content.ts';
import type { SessionEventType } from '../../../machines/session-event.ts';

/** Who speaks or acts in an entry. */
export type Speaker = 'user' | 'agent' | 'tool' | 'person' | 'worker' | 'session';

/** What a model's answer took. */
export interface Answering {
  modelId: string;
  attempt: number;
  latencyMs: number | null;
  usage: TokenUsage;
}

/** One thing that happened: who, what, with what, and how long it took. Values are as they are stored. */
export interface StoryEntry {
  /** The transition; two things of one transition have the same. */
  sequence: number;
  at: Date;
  runId: string | null;
  event: SessionEventType;
  speaker: Speaker;
  /** Name of the user, the agent, the tool, the person or the worker. */
  who: string;
  /** What was done, in a few words; `null` where it was only said. */
  did: string | null;
  /** What was said; `null` where nothing was. */
  said: string | null;
  turnIndex: number | null;
  /** The tool that it is about. */
  tool: string | null;
  executionId: string | null;
  attempt: number | null;
  /** What the tool was called with, or what a person put in place of it. Absent where it is not about that. */
  params?: Json;
  /** What came back. Absent where nothing did. */
  output?: Json;
  error: string | null;
  /** Milliseconds of the attempt, of the model's answer, or for which people were waited for; `null` where nothing was waited for. */
  tookMs: number | null;
  model: Answering | null;
}
