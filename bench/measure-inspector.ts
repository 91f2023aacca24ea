import { existsSync } from 'node:fs';
import type pg from 'pg';
import { type Browser, chromium } from 'playwright-core';
import { postgres } from '../adapters/databases/postgres.ts';
import { serve } from '../adapters/http/serve.ts';
import { inspect } from '../adapters/inspector/inspect.ts';
import { systemEnvironment } from '../environment.ts';
import { resolveLimits } from '../limits.ts';
import { openBenchDatabase } from './bench-database.ts';
import { fillSessions } from './fill-sessions.ts';
import { seedSession } from './seed-session.ts';

/** Sessions, and turns of one of them, that the others are compared with. */
export const FEW = 100;
export const SHORT_TURNS = 4;
export const LONG_TURNS = 5_000;

/** Times that a page is asked for, and loaded by a browser, after two that do not count. */
const TIMES = 15;
const LOADS = 7;

/** Turns, and transitions, of a run of the long session. */
const TURNS_OF_RUN = 4;

const TENANT = 'bench';

/** What an inspector is measured on: a server of its own, filled, with the inspector listening. */
export interface Ground {
  /** The inspector's address. */
  url: string;
  owner: pg.Client;
  sessions: number;
  turns: number;
  /** The session with so many turns. */
  sessionId: string;
  close(): Promise<void>;
}

/** Sessions that were changed a second apart, the last one now; of an even number half are newer than the middle. */
export async function openGround(
  serverUrl: string | undefined,
  { sessions, turns }: { sessions: number; turns: number },
): Promise<Ground> {
  const database = await openBenchDatabase(serverUrl);
  const { owner } = database;
  try {
    await fillSessions(owner, TENANT, sessions - 1);
    const runs = turns / TURNS_OF_RUN;
    const { sessionId } = await seedSession(owner, { tenantId: TENANT, agentName: 'bench', runs });
    await owner.query("SET session_replication_role = 'replica'");
    await owner.query(
      `UPDATE turnlock.agent_sessions s SET updated_at = now() - n.place * interval '1 second', external_id = 'ticket-' || n.place
         FROM (SELECT session_id, row_number() OVER () AS place FROM turnlock.agent_sessions) n WHERE s.session_id = n.session_id`,
    );
    await owner.query("SET session_replication_role = 'origin'");
    await owner.query('VACUUM ANALYZE');
    const [environment, limits] = [systemEnvironment, resolveLimits()];
    const opened = await postgres(database.url).connect({ environment, limits });
    const store = { database: opened, environment, limits };
    const viewer = { tenantId: TENANT, by: 'bench' };
    const served = await serve(inspect({ store, runtime: null, environment }, { viewer }));
    const close = async () => {
      await served.close();
      await opened.close();
      await database.drop();
    };
    return { url: served.url, owner, sessions, turns, sessionId, close };
  } catch (error) {
    await database.drop();
    throw error;
  }
}

/** Milliseconds of one page or one wait, of both grounds. */
export interface Timed {
  name: string;
  few: number[];
  many: number[];
}

/** Asks both inspectors for the same pages, in turns. Without Chromium it leaves out what a browser sees. */
export async function* measureInspector(grounds: { few: Ground; many: Ground }): AsyncGenerator<Timed> {
  for (const [name, path] of Object.entries(PATHS)) {
    const ask = async (ground: Ground) => ({ [name]: await answer(ground.url + path(ground)) });
    yield* await inTurns(grounds, TIMES, ask);
  }
  if (!existsSync(CHROMIUM)) return;
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    yield* await inTurns(grounds, LOADS, (ground) => load(browser, ground));
  } finally {
    await browser.close();
  }
}

const CHROMIUM = process.env.TURNLOCK_CHROMIUM ?? '/usr/bin/chromium';

const PATHS: Record<string, (ground: Ground) => string> = {
  'list: first page': () => '/',
  'list: a page from the middle': ({ sessions }) => `/?older=${placeAfter(sessions / 2)}`,
  'list: by agent': () => '/?agent=bench',
  'list: by user': () => '/?user=user',
  'list: a state that none has': () => '/?state=FAILED',
  'list: needs a person, none does': () => '/?asked=1',
  'list: search by an external id': () => '/?q=ticket-50',
  'session: its newest page': ({ sessionId }) => `/sessions/${sessionId}`,
  'session: a page from the middle': ({ sessionId, turns }) => `/sessions/${sessionId}?before=${turns / 2 + 1}`,
  'session: as it was in the middle': ({ sessionId, turns }) => `/sessions/${sessionId}/at/${turns / 2}`,
  'session: as it was at its end': ({ sessionId, turns }) => `/sessions/${sessionId}/at/${turns}`,
};

/** A place in the list, so many seconds ago. */
function placeAfter(seconds: number): string {
  return `${Math.round((Date.now() - seconds * 1_000) * 1_000)}.00000000-0000-0000-0000-000000000000`;
}

async function answer(address: string): Promise<number> {
  const begun = performance.now();
  const response = await fetch(address);
  await response.text();
  if (!response.ok) throw new Error(`${address} answered ${response.status}`);
  return performance.now() - begun;
}

/** The list in a browser that has nothing kept: until its document is there, and until a row is seen and a filter can be clicked. */
async function load(browser: Browser, { url }: Ground): Promise<Record<string, number>> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const begun = performance.now();
    const response = await page.goto(url, { waitUntil: 'domcontentloaded' });
    const loaded = performance.now() - begun;
    if (response?.ok() !== true) throw new Error(`${url} answered ${response?.status()}: there is no list to wait for`);
    await page.locator('#list tbody tr').first().waitFor();
    await page.locator('#overview a[href*="state=FAILED"]').click({ trial: true });
    return { 'browser: DOMContentLoaded': loaded, 'browser: list usable': performance.now() - begun };
  } finally {
    await context.close();
  }
}

async function inTurns(
  { few, many }: { few: Ground; many: Ground },
  times: number,
  measure: (ground: Ground) => Promise<Record<string, number>>,
): Promise<Timed[]> {
  const found = new Map<string, Timed>();
  for (let round = -2; round < times; round += 1) {
    const [one, other] = [await measure(few), await measure(many)];
    for (const [name, time] of Object.entries(one)) {
      const timed = found.get(name) ?? { name, few: [], many: [] };
      found.set(name, timed);
      if (round < 0) continue;
      timed.few.push(time);
      timed.many.push(other[name] ?? Number.NaN);
    }
  }
  return [...found.values()];
}
