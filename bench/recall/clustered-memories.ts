import { seededRandom } from '../seeded-random.ts';

/** A memory with the vector that its embedder would give it. */
export interface MadeMemory {
  content: string;
  vector: number[];
}

/** Topics of which one owner's memories are: the small ones know few. */
const TOPICS_OF_ONE = 8;

const TOPIC_WORDS = 30;

/** Length of the deviation from a topic, which itself has length 1: memories of one topic are alike by about 0.7. */
const DEVIATION = 0.65;

const SYLLABLES = [
  'ba',
  'de',
  'fi',
  'go',
  'ku',
  'la',
  'me',
  'ni',
  'po',
  'ru',
  'sa',
  'te',
  'vi',
  'wo',
  'zu',
  'an',
  'el',
];

/**
 * Memories in topics, the same for the same seed: vectors lie around a point of each topic, texts have half of their words from the topic and
 * half from the words that all have, the first of which are in nearly every text.
 */
export class ClusteredMemories {
  readonly #random: () => number;
  readonly #centres: number[][];
  readonly #words: string[];
  readonly #dimensions: number;

  constructor({ seed = 1, dimensions = 256, topics = 500 } = {}) {
    this.#random = seededRandom(seed);
    this.#dimensions = dimensions;
    this.#centres = Array.from({ length: topics }, () => normalised(this.#gaussians()));
    this.#words = Array.from({ length: 4_000 }, (_, index) => wordOf(index));
  }

  /** The topics of one owner: of all, or of few where `memories` are few. */
  topicsOf(memories: number): number[] {
    const all = this.#centres.map((_, topic) => topic);
    if (memories >= all.length) return all;
    return Array.from({ length: TOPICS_OF_ONE }, () => this.#below(all.length));
  }

  /** A memory of one of `topics`. */
  memory(topics: readonly number[]): MadeMemory & { topic: number } {
    const topic = topics[this.#below(topics.length)] ?? 0;
    return { topic, content: this.#text(topic, 6), vector: this.#near(this.#centres[topic] ?? []) };
  }

  /** What somebody asks who looks for `memory`: three words of its topic and three that all have, and a vector not far from it. */
  query({ topic, vector }: { topic: number; vector: readonly number[] }): MadeMemory {
    return { content: this.#text(topic, 3), vector: this.#near(vector) };
  }

  #text(topic: number, words: number): string {
    const ofTopic = Array.from({ length: words }, () => 1_000 + ((topic * 37 + this.#below(TOPIC_WORDS)) % 3_000));
    // Words by Zipf's law, roughly: the first ones come again and again.
    const ofAll = Array.from({ length: words }, () => Math.floor(1_000 ** this.#random()) - 1);
    return [...ofTopic, ...ofAll].map((index) => this.#words[index]).join(' ');
  }

  #near(centre: readonly number[]): number[] {
    const deviation = normalised(this.#gaussians());
    return normalised(centre.map((number, index) => number + DEVIATION * (deviation[index] ?? 0)));
  }

  #gaussians(): number[] {
    return Array.from({ length: this.#dimensions }, () => {
      const distance = Math.sqrt(-2 * Math.log(1 - this.#random()));
      return distance * Math.cos(2 * Math.PI * this.#random());
    });
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }
}

/** A word for each number: three or four syllables, so that no two are alike. */
function wordOf(index: number): string {
  const { length } = SYLLABLES;
  const places = [index, Math.floor(index / length), Math.floor(index / length ** 2), (index * 7) % length];
  return places.map((place) => SYLLABLES[place % length]).join('');
}

function normalised(vector: readonly number[]): number[] {
  const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
  return vector.map((number) => number / length);
}
