import { readFile } from 'node:fs/promises';
import { TurnlockError } from '../../../errors.ts';
import { parseTranscripts } from './parse-transcripts.ts';
import type { Transcript } from './transcript.ts';

/** Which recordings are rehearsed. */
export interface TranscriptSource {
  file: string;
  /** Only the first so many; absent: all. */
  limit?: number;
}

/** @throws TRANSCRIPT_INVALID when the file cannot be read, or something in it cannot be rehearsed. */
export async function readTranscripts({ file, limit }: TranscriptSource): Promise<Transcript[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new TurnlockError('TRANSCRIPT_INVALID', {
      message: `transcript file cannot be read: ${file} (found ${(cause as NodeJS.ErrnoException).code ?? 'an error'})`,
      hint: 'Name a file with one recorded conversation a line; `turnlock rehearse --generate 10` writes one to standard output.',
      details: { file },
      cause,
    });
  }
  return parseTranscripts(text).slice(0, limit);
}
