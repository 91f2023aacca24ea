import { postgres } from '../../adapters/databases/postgres.ts';
import { systemEnvironment } from '../../environment.ts';
import { resolveLimits } from '../../limits.ts';
import { migrate } from '../../persistence/migrate.ts';
import { parentChannel } from '../support/child-channel.ts';

/** Migrates each database that it is told of. It connects first, so that all children begin to migrate in the same instant. */
const channel = parentChannel();
await channel.say('ready');
for (;;) {
  const { url } = await channel.hear('database');
  const database = await postgres(url as string).connect({ environment: systemEnvironment, limits: resolveLimits() });
  await channel.say('connected');
  await channel.hear('go');
  const result = await migrate(database).then(
    ({ applied }) => ({ applied: applied.length }),
    (error) => ({ error: `${error.code}: ${error.message} ${JSON.stringify(error.details)}` }),
  );
  await database.close();
  await channel.say('migrated', result);
}
