import { pglite } from '../../../adapters/databases/pglite.ts';
import { systemEnvironment } from '../../../environment.ts';
import { resolveLimits } from '../../../limits.ts';
import { parentChannel } from '../../support/child-channel.ts';

/** Opens the directory when told to, and then writes one row after the other, telling each one that was acknowledged. */
const directory = process.argv[2]!;
const channel = parentChannel();
await channel.say('ready');
await channel.hear('open');
try {
  const { orm, tookOverDeadHolder } = await pglite(directory).connect({
    environment: systemEnvironment,
    limits: resolveLimits(),
  });
  await channel.say('opened', { tookOverDeadHolder });
  await channel.hear('write');
  await orm.em.fork().execute('create table if not exists written (n int)');
  for (let n = 0; ; n += 1) {
    const em = orm.em.fork();
    await em.begin();
    await em.execute('insert into written values (?)', [n]);
    await em.commit();
    await channel.say('wrote', { n });
  }
} catch (error) {
  const { code, message, details } = error as { code: string; message: string; details: unknown };
  await channel.say('refused', { code, message, details });
}
