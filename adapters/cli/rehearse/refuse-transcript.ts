import { TurnlockError } from '../../../errors.ts';

/** Where in a file of recordings something stands. Lines and messages count from 1. */
export interface TranscriptPlace {
  line: number;
  message?: number;
  /** What of it, for example `tool call 2, arguments`. */
  part?: string;
}

/** TRANSCRIPT_INVALID: what stands at `place` cannot be rehearsed. */
export function refuseTranscript(
  place: TranscriptPlace,
  found: string,
  wanted: string,
  cause?: unknown,
): TurnlockError {
  const { line, message, part } = place;
  const where = [
    `line ${line}`,
    ...(message === undefined ? [] : [`message ${message}`]),
    ...(part === undefined ? [] : [part]),
  ];
  return new TurnlockError('TRANSCRIPT_INVALID', {
    message: `transcript not accepted: ${where.join(', ')} (found ${found}, wanted ${wanted})`,
    hint: 'Correct that line or leave it out; docs/rehearse.md describes the format.',
    details: { ...place, found, wanted },
    cause,
  });
}

/** Text of a file as a message can show it: short, on one line. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 60 ? text : `${text.slice(0, 59).toWellFormed()}…`;
}
