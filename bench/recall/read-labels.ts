import { readFileSync } from 'node:fs';

/** A memory of the labelled data; see `README.md` beside it. */
export interface LabelledMemory {
  id: string;
  user: string;
  kind: 'summary' | 'preference' | 'fact' | 'episode';
  content: string;
}

/** A query with the memories that a careful person wants to see for it. */
export interface LabelledQuery {
  id: string;
  user: string;
  query: string;
  /** Ids of memories, at least one. */
  relevant: string[];
  type: string;
}

/** The labelled data, as it is committed. */
export interface Labels {
  memories: LabelledMemory[];
  queries: LabelledQuery[];
}

/** @throws Error for a line that is no JSON. */
export function readLabels(folder: URL = new URL('./', import.meta.url)): Labels {
  return {
    memories: linesOf(new URL('memories.jsonl', folder)) as LabelledMemory[],
    queries: linesOf(new URL('queries.jsonl', folder)) as LabelledQuery[],
  };
}

function linesOf(file: URL): unknown[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as unknown);
}
