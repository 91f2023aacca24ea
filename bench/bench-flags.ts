/** The flags of every benchmark, as `parseArgs` takes them. */
export const BENCH_FLAGS = {
  quick: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  database: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;
