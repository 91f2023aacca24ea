import { endWithParent, sayReady } from './child.ts';
import { openRuntime } from './runtime.ts';

/*
 * A worker: it takes every session that owes work and nobody is at, and drives it. Killed in the middle, the other one goes on.
 */

const opening = openRuntime({ drive: true });
endWithParent(opening, (runtime) => runtime.close());
await (await opening).start();
sayReady();
