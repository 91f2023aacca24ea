import { postgres } from '../../adapters/databases/postgres.ts';
import { systemEnvironment } from '../../environment.ts';
import { resolveLimits } from '../../limits.ts';
import type { Database } from '../../persistence/database.contract.ts';
import { migrate } from '../../persistence/migrate.ts';
import { parentChannel } from '../support/child-channel.ts';

/** Migrates all databases that it is told of at once. It connects first, so that all children begin in the same instant. */
const channel = parentChannel();
await channel.say('ready');
const { urls } = (await channel.hear('databases')) as unknown as { urls: string[] };
const limits = resolveLimits({ connectTimeoutMs: 60_000 });
const databases = await Promise.all(
  urls.map((url) => postgres({ connectionString: url, max: 1 }).connect({ environment: systemEnvironment, limits })),
);
await channel.say('connected');
await channel.hear('go');
const results = await Promise.all(databases.map(migrateOne));
await channel.say('migrated', { results });

async function migrateOne(database: Database): Promise<{ applied: number; error?: string }> {
  try {
    return { applied: (await migrate(database)).applied.length };
  } catch (error) {
    return { applied: 0, error: `${String(error)} ${JSON.stringify((error as { details?: unknown }).details)}` };
  } finally {
    await database.close();
  }
}
