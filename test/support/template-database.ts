import type pg from 'pg';
import { inject } from 'vitest';
import { databasePrefix, urlOfDatabase } from './database-names.ts';
import { migrateTemplate } from './migrate-template.ts';

/**
 * Answers the name of the run's migrated template database, and makes it when it is the first to ask. The lock closes the
 * race of two workers that both find none; the name appears only after the migration is done, so a failed one leaves none.
 */
export async function templateDatabase(client: pg.Client): Promise<string> {
  const name = `${databasePrefix(inject('runId'))}template`;
  await client.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (found.rowCount === 0) await make(client, name);
    return name;
  } finally {
    await client.query('SELECT pg_advisory_unlock(hashtext($1))', [name]);
  }
}

async function make(client: pg.Client, name: string): Promise<void> {
  const draft = `${name}_draft`;
  await client.query(`DROP DATABASE IF EXISTS "${draft}" WITH (FORCE)`);
  await client.query(`CREATE DATABASE "${draft}" TEMPLATE template0 ENCODING 'UTF8'`);
  await migrateTemplate(urlOfDatabase(inject('postgresUrl'), draft));
  await client.query(`ALTER DATABASE "${draft}" RENAME TO "${name}"`);
  await client.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`); // a connection would block its clones
}
