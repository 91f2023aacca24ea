import type { Scratchpad } from '../../adapters/tools/tool.contract.ts';
import type { Limits } from '../../limits.ts';
import type { Json } from '../../machines/event-content.ts';
import { checkIdentifier } from '../../persistence/values/check-identifier.ts';
import { normaliseJson } from '../../persistence/values/normalise-json.ts';
import { refuseSize } from '../../persistence/values/refuse-value.ts';

/** Keys of one scratchpad: each takes more memory than its bytes of JSON. */
const MAX_KEYS = 1_000;

const MAX_KEY_CHARACTERS = 255;

interface Entry {
  value: Json;
  bytes: number;
}

/** What the tools of one run keep for each other while this process drives it. Once the drive has ended it holds nothing, and takes nothing. */
export class RunScratchpad implements Scratchpad {
  readonly #limits: Pick<Limits, 'maxScratchpadBytes' | 'maxDepth'>;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #isOver = false;

  constructor(limits: Pick<Limits, 'maxScratchpadBytes' | 'maxDepth'>) {
    this.#limits = limits;
  }

  get(key: string): Json | undefined {
    return structuredClone(this.#entries.get(key)?.value);
  }

  set(key: string, value: unknown): void {
    const name = checkIdentifier(key, { name: 'key', maxCharacters: MAX_KEY_CHARACTERS });
    const { maxScratchpadBytes: maxBytes, maxDepth } = this.#limits;
    const stored = normaliseJson(value, { maxBytes, maxDepth, name: 'scratchpad' });
    const before = this.#entries.get(name);
    const entry = { value: stored.value, bytes: stored.bytes + Buffer.byteLength(name) };
    const bytes = this.#bytes - (before?.bytes ?? 0) + entry.bytes;
    if (bytes > maxBytes) throw refuseSize(['scratchpad'], maxBytes, 'bytes');
    if (before === undefined && this.#entries.size >= MAX_KEYS) throw refuseSize(['scratchpad'], MAX_KEYS, 'values');
    // A tool that is out after its run may still act, and its result counts: it must not fail for this.
    if (this.#isOver) return;
    this.#entries.set(name, entry);
    this.#bytes = bytes;
  }

  delete(key: string): boolean {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    return this.#entries.delete(key);
  }

  keys(): string[] {
    return [...this.#entries.keys()];
  }

  /** The run is not driven here any more. */
  end(): void {
    this.#isOver = true;
    this.#entries.clear();
    this.#bytes = 0;
  }
}
