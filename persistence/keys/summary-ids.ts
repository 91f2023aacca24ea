import { derivedUuid } from './derived-uuid.ts';

/** What a summary follows from: the task by which it is owed, and the summary that it takes the place of. */
interface SummaryPlace {
  taskId: string;
  /** `null` for the first one. */
  previous: string | null;
}

/** The event that stores a summary: two processes at one task name the same, so one of them stores it, and the other one repeats it. */
export function summaryEventId({ taskId, previous }: SummaryPlace): string {
  return derivedUuid('summary', taskId, previous);
}

/** The memory that it stores. */
export function summaryMemoryId({ taskId, previous }: SummaryPlace): string {
  return derivedUuid('summaryMemory', taskId, previous);
}
