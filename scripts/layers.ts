/** A part of the house, told by a file's path, with what it may import. */
export interface Layer {
  readonly name: string;
  readonly holds: RegExp;
  /** Paths it may import. */
  readonly mayImport: RegExp;
  /** Paths of which it may import types only. */
  readonly mayImportTypesOf?: RegExp;
  /** Packages it may import; absent means those of MARKED_PACKAGES are refused and all others pass. */
  readonly packages?: RegExp;
}

const LEAF = /^(errors|limits|environment)\.ts$/;
const PUBLISHED = /^(?!test\/|bench\/|testing\/|scripts\/|examples\/)/;

/** Packages that only persistence, database adapters and migrations may import; elsewhere their types alone. */
export const DATABASE_PACKAGES = /^(@mikro-orm\/|pg$|pg-|kysely|@electric-sql\/|pgvector)/;

/** First match counts. Imports go one way: leaves ← machines ← persistence ← runtime ← driving adapters. */
export const LAYERS: readonly Layer[] = [
  { name: 'leaves', holds: LEAF, mayImport: LEAF, packages: /^node:/ },
  {
    name: 'machines',
    holds: /^machines\//,
    mayImport: either(LEAF, /^machines\//),
    packages: /^(xstate|zod|node:crypto)/,
  },
  {
    name: 'migrations',
    holds: /^migrations\//,
    mayImport: /^migrations\//,
    packages: /^@mikro-orm\/migrations$/,
  },
  {
    name: 'persistence',
    holds: /^persistence\//,
    mayImport: either(LEAF, /^(machines|persistence)\//),
    packages: /./,
  },
  {
    name: 'database adapters',
    holds: /^adapters\/databases\//,
    mayImport: either(LEAF, /^(adapters\/databases|migrations)\/|^persistence\/(database\.contract\.ts|entities\/)/),
    packages: /./,
  },
  {
    name: 'model, tool and embedder adapters',
    holds: /^adapters\/(models|tools|embedders)\//,
    mayImport: either(LEAF, /^adapters\/(models|tools|embedders)\//),
    mayImportTypesOf: /^machines\//,
  },
  {
    name: 'runtime',
    holds: /^runtime\//,
    mayImport: either(
      LEAF,
      /^(machines|persistence|runtime)\/|^adapters\/(models\/model|tools\/tool|tools\/memory|telemetry\/telemetry|embedders\/embedder)\.contract\.ts$|^adapters\/tools\/(json-schema-of|define-tool|policy|tool-error|reconciliation)\.ts$/,
    ),
  },
  {
    name: 'telemetry',
    holds: /^adapters\/telemetry\//,
    mayImport: either(LEAF, /^adapters\/telemetry\//),
    mayImportTypesOf: /^(machines\/|adapters\/models\/model\.contract\.ts$)/,
    packages: /^@opentelemetry\/api$/,
  },
  {
    name: 'driving adapters',
    holds: /^adapters\/(cli|http|inspector|stately)\//,
    mayImport: either(LEAF, /^(machines|persistence|runtime|adapters)\//),
    packages: /./,
  },
  { name: 'entry', holds: /^index\.ts$/, mayImport: PUBLISHED },
  // What users test with: it may look at everything, and nothing that is published looks at it.
  { name: 'testing kit', holds: /^testing\//, mayImport: either(PUBLISHED, /^testing\//), packages: /./ },
  // What is ours they import by the package's name, as a user does: public entry points alone.
  { name: 'examples', holds: /^examples\//, mayImport: /^examples\//, packages: /./ },
  {
    name: 'tooling',
    holds: /^(test|bench|scripts)\/|\.config\.ts$/,
    mayImport: /^(?!examples\/)/,
    mayImportTypesOf: /^examples\/refunds\/payments\//, // tests start that service as a process
    packages: /./,
  },
];

/**
 * Where the product may read clock, chance and ids: all of it enters through the environment; a command line has its own, and so has the
 * browser in which the inspector's script runs.
 */
export const NONDETERMINISM_ALLOWED = /^(environment\.ts$|adapters\/cli\/|adapters\/inspector\/assets\/)/;

/** Files that may import each other in a circle: tables that reference each other have entities that do, lazily. */
export const CYCLES_ALLOWED = /^persistence\/entities\//;

/** Where SQL may be written. */
export const SQL_ALLOWED = /^(persistence|adapters\/databases|migrations)\//;

/** The folders of the product and of what is published. */
export const PRODUCT = /^(machines|persistence|adapters|runtime|migrations)\/|^(index|errors|limits|environment)\.ts$/;

function either(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map((pattern) => `(?:${pattern.source})`).join('|'));
}
