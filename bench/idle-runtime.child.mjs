// A worker that has nothing to do: the package as it is built, one agent, one server. Says its resident set, in bytes,
// once it has started and once more after the seconds of its second argument, as one line of JSON.
import { setTimeout as wait } from 'node:timers/promises';
import { postgres } from '../dist/adapters/databases/postgres.js';
import { scripted } from '../dist/adapters/models/scripted.js';
import { createRuntime, defineAgent } from '../dist/index.js';

const [url, seconds] = process.argv.slice(2);
const agent = defineAgent({ name: 'idle', instructions: 'Wait.', model: scripted('Yes.') });
const runtime = await createRuntime({ database: postgres(url), agents: [agent], migrate: 'check' });
await runtime.start();
await runtime.recover(); // one look for work has come to its end
const started = process.memoryUsage.rss();
await wait(Number(seconds) * 1_000);
const idle = process.memoryUsage.rss();
await runtime.close();
console.log(JSON.stringify({ started, idle }));
