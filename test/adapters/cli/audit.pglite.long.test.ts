import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PGlite } from '@electric-sql/pglite';
import { beforeAll, describe, expect, test } from 'vitest';
import { pglite } from '../../../adapters/databases/pglite.ts';
import { createRuntime } from '../../../index.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runTurnlock } from './run-turnlock.ts';
import { supportAgent } from './support-agent.ts';

const run = promisify(execFile);
const DANGEROUS = /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;
const ODD = '\u001b[2J refund \u202eit';

let folder = '';
let sessionId = '';
/** Of the session: its audit, and its turns and executions. */
let exported: { lines: string[]; document: string };

const turnlock = (...args: string[]) => runTurnlock(folder, ['--database', 'data', ...args]);
const linesOf = (text: string) => text.trimEnd().split('\n');

/** The program of docs/audit.md, as somebody would have it who has nothing of ours. */
const [, RECIPE = ''] =
  /```js\n(\/\/ verify-audit\.mjs\n[\s\S]*?)```/.exec(readFileSync('docs/audit.md', 'utf8')) ?? [];

/** What the program says of an audit, and of the turns and executions beside it. */
async function verify(audit: readonly string[], document?: string): Promise<string> {
  await writeFile(join(folder, 'audit.jsonl'), `${audit.join('\n')}\n`);
  if (document !== undefined) await writeFile(join(folder, 'session.json'), document);
  const files = ['audit.jsonl', ...(document === undefined ? [] : ['session.json'])];
  return run(process.execPath, ['verify-audit.mjs', ...files], { cwd: folder }).then(
    ({ stdout }) => stdout.trim(),
    ({ stdout }: { stdout: string }) => stdout.trim(),
  );
}

async function exportOf(id: string): Promise<typeof exported> {
  const [audit, document] = [await turnlock('show', id, '--audit', '--json'), await turnlock('show', id, '--json')];
  expect([audit.code, document.code]).toEqual([0, 0]);
  return { lines: linesOf(audit.stdout), document: document.stdout };
}

beforeAll(async () => {
  folder = await temporaryFolder('turnlock-audit-');
  await using runtime = await createRuntime({ database: pglite(join(folder, 'data')), agents: [supportAgent()] });
  const session = await runtime.createSession({ agent: 'support', tenantId: 'acme', userId: 'ann' });
  await (await session.send(ODD, { messageId: 'message-1' })).result();
  await (await session.send('and again')).result();
  ({ sessionId } = session);
  await writeFile(join(folder, 'verify-audit.mjs'), RECIPE);
});

describe('replay and audit', () => {
  test('replay tells the story, harmless for a terminal, and that it leads to what is stored', async () => {
    const { code, stdout } = await turnlock('replay', sessionId);
    expect(code).toBe(0);
    expect(stdout).not.toMatch(DANGEROUS);
    for (const part of [
      String.raw`ann: \u001b[2J refund \u202eit`,
      '→ refund is called',
      '← refund answers (',
      '{"refunded":true}',
      '2 runs, 4 model calls',
      'Replayed: all 8 transitions lead to what is stored.',
    ]) {
      expect(stdout).toContain(part);
    }
    for (const line of linesOf(stdout).filter((one) => !one.startsWith('run ')))
      expect(line.length).toBeLessThanOrEqual(80);
  });

  test('replay --json is one document with the entries and what the fold came to', async () => {
    const { code, stdout } = await turnlock('replay', sessionId, '--tenant', 'acme', '--json');
    expect(code).toBe(0);
    const { session, entries, replay } = JSON.parse(stdout);
    expect(session).toMatchObject({ sessionId, tenantId: 'acme', state: 'IDLE', forkedFrom: null });
    expect(entries[0]).toMatchObject({ sequence: 1, speaker: 'user', who: 'ann', said: ODD, turnIndex: 0 });
    expect(entries.filter(({ tool }: { tool: string }) => tool === 'refund')).toHaveLength(4);
    expect(replay).toMatchObject({ transitions: 8, folded: 8, findings: [] });
  });

  test('doctor ends with 0 where nothing is wrong', async () => {
    expect(await turnlock('doctor', '--all')).toMatchObject({ code: 0, stdout: '' });
  });

  test('show --audit says who, which worker and which message', async () => {
    const { code, stdout } = await turnlock('show', sessionId, '--audit');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^#1 {2}.* user\.messaged\n {2}IDLE → PLANNING, cause user, token 1, message message-1\n {2}worker [0-9a-f-]{36}\n/,
    );
    expect(stdout.match(/^ {2}hash {3}[0-9a-f]{64}$/gm)).toHaveLength(8);
  });

  test('the export is verified by a program that has nothing of ours, and what is changed in it is found', async () => {
    exported = await exportOf(sessionId);
    const { lines, document } = exported;
    expect(lines.map((line) => JSON.parse(line).record)).toEqual(['session', ...Array(8).fill('transition')]);
    const head = JSON.parse(lines.at(-1) ?? '').hash;
    expect(await verify(lines)).toBe(`verified: 8 transitions, head ${head}`);
    const change = (place: number, from: string, to: string) =>
      lines.map((line, at) => (at === place ? line.replace(from, to) : line));
    for (const [changed, place] of [
      [change(3, '"cause":"worker"', '"cause":"operator"'), '#3: hash is'],
      [change(1, '"messageId":"message-1"', '"messageId":"message-2"'), '#1: payload is'],
      [change(0, '"agentName":"support"', '"agentName":"other"'), 'begin: hash is'],
      [lines.filter((_, at) => at !== 4), '#5: sequence is 5, wanted 4'],
      [lines.slice(0, -1), 'end: sequence is 7, wanted 8'],
    ] as const) {
      expect(await verify([...changed])).toContain(place);
    }
    expect(await verify(lines, document)).toBe(`verified: 8 transitions, head ${head}`);
    for (const [from, to, place] of [
      ['"content":"and again"', '"content":"never again"', '#5: digest of turns is'],
      ['"role":"tool"', '"role":"system"', '#3: digest of turns is'],
      ['"refunded":true', '"refunded":false', '#3: digest of'],
      ['"status":"SUCCESS"', '"status":"FAILED"', '#3: digest of outcomes is'],
      ['"version":8', '"version":9', 'session: version is 9, wanted 8'],
      ['"turnIndex":7', '"turnIndex":8', 'turn 8: in the audit is false, wanted true'],
    ] as const) {
      expect(document).toContain(from);
      expect(await verify(lines, document.replace(from, to))).toContain(place);
    }
  });
});

describe('forks and heads', () => {
  test('fork makes a session that show and sessions know the origin of; an illegal turn is refused with the nearest', async () => {
    const refused = await turnlock('fork', sessionId, '--at-turn', '1', '--by', 'eve');
    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('wanted turn 0 or 2') });
    const { code, stdout } = await turnlock('fork', sessionId, '--at-turn', '3', '--by', 'eve', '--json');
    expect(code).toBe(0);
    const fork = JSON.parse(stdout);
    expect(fork).toMatchObject({ forkedFrom: { sessionId, turnIndex: 3 }, state: 'IDLE', version: 1 });
    const listed = await turnlock('sessions', '--fork-of', sessionId, '--json');
    expect(linesOf(listed.stdout).map((line) => JSON.parse(line).sessionId)).toEqual([fork.sessionId]);
    const shown = await turnlock('show', fork.sessionId);
    expect(shown.stdout).toContain(`session ${sessionId}, up to turn 3`);
    expect(shown.stdout).toContain('copied from execution');
    const { lines, document } = await exportOf(fork.sessionId);
    expect(await verify(lines, document)).toMatch(/^verified: 1 transitions, head /);
    for (const [from, to, place] of [
      ['"role":"user"', '"role":"system"', '#1: digest of turns is'],
      ['"status":"SUCCESS"', '"status":"FAILED"', '#1: digest of outcomes is'],
    ] as const) {
      expect(await verify(lines, document.replace(from, to))).toContain(place);
    }
  });

  test('heads are kept elsewhere and compared: changed chains are found, and so are sessions that are gone', async () => {
    const { code, stdout } = await turnlock('heads', '--json');
    expect(code).toBe(0);
    const gone = {
      tenantId: 'acme',
      sessionId: '00000000-0000-4000-8000-000000000000',
      sequence: 1,
      hash: 'a'.repeat(64),
    };
    await writeFile(join(folder, 'heads.jsonl'), `${stdout}${JSON.stringify(gone)}\n`);
    const same = await turnlock('heads', '--check', 'heads.jsonl');
    expect(same).toMatchObject({
      code: 1,
      stderr: '2 kept, 0 changed, 0 removed by retention, 1 gone without a word.\n',
    });
    expect(same.stdout).toContain(`${gone.sessionId}       1  ${gone.hash}  gone  acme`);
    const database = await PGlite.create(join(folder, 'data'));
    await database.exec(
      `SET session_replication_role = 'replica'; UPDATE turnlock.agent_transitions SET hash = repeat('0', 64) WHERE sequence = 8;`,
    );
    await database.close();
    const changed = await turnlock('heads', '--check', 'heads.jsonl', '--json');
    expect(changed.code).toBe(1);
    expect(
      linesOf(changed.stdout)
        .map((line) => JSON.parse(line).is)
        .sort(),
    ).toEqual(['changed', 'gone', 'kept']);
    await writeFile(join(folder, 'empty.jsonl'), '');
    await writeFile(join(folder, 'high.jsonl'), `${JSON.stringify({ ...gone, sequence: 3_000_000_000 })}\n`);
    for (const args of [['empty.jsonl'], ['heads.jsonl', '--tenant', 'another'], ['high.jsonl']]) {
      expect(await turnlock('heads', '--check', ...args)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('OPTIONS_INVALID'),
      });
    }
    await writeFile(join(folder, 'odd.jsonl'), '{"tenantId":"acme"}\n');
    expect(await turnlock('heads', '--check', 'odd.jsonl')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('line 1'),
    });
  });
});
