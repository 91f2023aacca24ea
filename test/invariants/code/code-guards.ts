/** One place of one source file, and what stands there without the guard. */
export interface Patch {
  file: string;
  /** Must stand in the file exactly once. */
  from: string;
  to: string;
}

/** Something in the code that keeps a promise. Its scene answers what was seen: `holds` with the guard, `breaks` without it. */
export interface CodeGuard {
  /** As the page names it. */
  readonly name: string;
  /** What happens without it, as the page says it. */
  readonly prevents: string;
  readonly takeOut: Patch;
  /** What takes out another guard that stands in front of this one, with the guard and without it. */
  readonly inFront?: Patch;
  /** In scenes.ts. */
  readonly scene: string;
  readonly holds: unknown;
  readonly breaks: unknown;
}

const lock: Patch = {
  file: 'persistence/session-transaction.ts',
  from: `'pg_catalog.pg_advisory_xact_lock(?)'`,
  to: `'?::text as not_locked'`,
};

/** What the code guards, above the schema. */
export const codeGuards: readonly CodeGuard[] = [
  {
    name: 'the advisory lock of a commit',
    prevents: 'a commit that is overtaken by one which began later, and has to be tried again',
    takeOut: lock,
    scene: 'overtaken',
    holds: ['first', 'second'],
    breaks: ['second', 'first'],
  },
  {
    name: 'the version in the WHERE of a commit',
    prevents:
      'a writer that decided on an older version and overwrites the newer one, where no constraint of the schema stops it',
    takeOut: {
      file: 'persistence/entities/agent-session.entity.ts',
      from: 'version: p.integer().default(0).concurrencyCheck(),',
      to: 'version: p.integer().default(0),',
    },
    inFront: lock,
    scene: 'olderVersion',
    holds: [0, 2],
    breaks: [0, 0],
  },
  {
    name: 'the comparison of the fencing token',
    prevents: 'a worker that lost its lease and commits all the same',
    takeOut: {
      file: 'persistence/lease.ts',
      from: `if (claim.type === 'hold' && (claim.token !== lease.leaseToken || claim.holder !== lease.leaseHolder)) {`,
      to: 'if (false) {',
    },
    scene: 'zombie',
    holds: 'fresh',
    breaks: 'stale',
  },
  {
    name: 'the lease that is still live',
    prevents: 'a session that is taken from a worker which is alive',
    takeOut: { file: 'persistence/lease.ts', from: `if (claim.type === 'takeOver' && live) {`, to: 'if (false) {' },
    scene: 'takenAlive',
    holds: [],
    breaks: ['worker.tookOver'],
  },
  {
    name: 'the lock that a takeover only tries',
    prevents: 'a takeover in the middle of a commit of the worker that it takes for dead',
    takeOut: {
      file: 'persistence/session-transaction.ts',
      from: `'pg_catalog.pg_try_advisory_xact_lock(?) as locked'`,
      to: `'(?::text) is not null as locked'`,
    },
    scene: 'takenInCommit',
    holds: 'LEASE_HELD',
    breaks: 'IDLE',
  },
  {
    name: 'the look-up of the event id',
    prevents: 'a repeated message that is not answered with its first run',
    takeOut: {
      file: 'persistence/commit-event.ts',
      from: 'if (seen !== null) return repeat(em, found, asked, { seen, contentDigest: asked.contentDigest ?? null });',
      to: '',
    },
    scene: 'repeated',
    holds: 'the same run',
    breaks: 'VERSION_CONFLICT',
  },
  {
    name: 'a message begins a run only where none waits',
    prevents: 'a message that goes before those which wait',
    takeOut: {
      file: 'persistence/decide-event.ts',
      from: `const begins = !BUSY.includes(state) && (state === 'FAILED' || inbox.waiting === 0);`,
      to: 'const begins = !BUSY.includes(state);',
    },
    scene: 'waiting',
    holds: ['first', 'second'],
    breaks: ['second', 'first'],
  },
  {
    name: 'a drive looks for messages that came past the lock',
    prevents: 'an interruption by SQL that nobody hears before the run has ended',
    takeOut: { file: 'runtime/drive-session.ts', from: 'if (last.news > 0) {', to: 'if (false) {' },
    scene: 'unheard',
    holds: 1,
    breaks: 2,
  },
  {
    name: 'a heartbeat hears what cannot wait for the next commit',
    prevents: 'an interruption by SQL that a tool which is out never hears of',
    takeOut: {
      file: 'runtime/keep-lease.ts',
      from: 'lease.isCalled ? await noteMessage(drive) : null',
      to: 'null as Awaited<ReturnType<typeof noteMessage>>',
    },
    scene: 'unheardWhileOut',
    holds: true,
    breaks: false,
  },
  {
    name: 'a reply is final only where no message waits',
    prevents: 'a session that completes while a message waits, which is then refused',
    takeOut: {
      file: 'persistence/decide-event.ts',
      from: 'final: event.final && inbox.waiting === 0',
      to: 'final: event.final',
    },
    scene: 'final',
    holds: null,
    breaks: 'SESSION_COMPLETED',
  },
  {
    name: 'the lock under which evidence is kept',
    prevents: 'a late result that a commit consumes the wake of without having seen it',
    takeOut: {
      file: 'persistence/evidence.ts',
      from: '{ tenantId, lockedSessionId: sessionId }',
      to: '{ tenantId }',
    },
    scene: 'late',
    holds: 'found',
    breaks: 'forgotten',
  },
  {
    name: 'a call is unknown only after its deadline',
    prevents: 'a person who is asked about a call that is still at work',
    takeOut: {
      file: 'runtime/run-tools.ts',
      from: 'return this.#lost.get(attemptKey(row))?.said != null || this.#overdueInMs(row) <= 0;',
      to: 'return true;',
    },
    scene: 'atWork',
    holds: 'waits',
    breaks: 'AWAITING_INPUT',
  },
];
