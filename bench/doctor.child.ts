import { postgres } from '../adapters/databases/postgres.ts';
import { systemEnvironment } from '../environment.ts';
import { resolveLimits } from '../limits.ts';
import { checkDoctor } from '../runtime/doctor/check-doctor.ts';
import { examine } from '../runtime/doctor/doctor.ts';

/*
 * One examination in a process of its own, so that its memory is its own: `node doctor.child.ts <url> <tenant> <quick>`. Prints what came of
 * it as a line of JSON.
 */
const [url = '', tenantId = '', quick = 'true'] = process.argv.slice(2);
const environment = systemEnvironment;
const limits = resolveLimits();
const database = await postgres(url).connect({ environment, limits });
const from = environment.monotonic();
const asked = checkDoctor({ tenantId, quick: quick === 'true', maxFindings: 5 }, { announces: false });
const report = await examine({ database, environment, limits }, asked);
const ms = environment.monotonic() - from;
const { maxRSS } = process.resourceUsage();
await database.close();
const { sessions, errors, warnings, findings } = report;
process.stdout.write(`${JSON.stringify({ ms, maxRssBytes: maxRSS * 1_024, sessions, errors, warnings, findings })}\n`);
