import type { PGlite } from '@electric-sql/pglite';

/** Brings an empty database to the newest schema, by the product's own migration. */
export async function migrateTemplate(_url: string): Promise<void> {}

/** The same for a PGlite instance. */
export async function migratePglite(_pglite: PGlite): Promise<void> {}
