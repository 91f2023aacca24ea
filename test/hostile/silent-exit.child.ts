import { once } from 'node:events';
import { postgres } from '../../adapters/databases/postgres.ts';
import { scripted } from '../../adapters/models/scripted.ts';
import { createRuntime, defineAgent } from '../../index.ts';

/** A worker that closes once it is told to, and ends by nothing but having nothing left to do. */

const url = process.argv[2] ?? '';
const say = (type: string) => process.stdout.write(`${JSON.stringify({ type })}\n`);
const agent = defineAgent({ name: 'exit', model: scripted('done'), instructions: 'Do it.' });
const runtime = await createRuntime({
  database: postgres(url, { listen: url }),
  agents: [agent],
  migrate: 'check',
  limits: { statementTimeoutMs: 1_000, lockTimeoutMs: 1_000, connectTimeoutMs: 1_000 },
  onWarning: () => undefined,
});
await runtime.start();
await Promise.all([1, 2, 3].map(() => runtime.createSession({ agent: 'exit', tenantId: 'tenant', userId: 'user' })));
say('ready');
await once(process.stdin, 'data');
process.stdin.destroy();
await runtime.close();
say('closed');
