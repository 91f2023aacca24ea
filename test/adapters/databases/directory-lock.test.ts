import { rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { lockDirectory } from '../../../adapters/databases/directory-lock.ts';
import { processIdentity } from '../../../adapters/databases/process-identity.ts';
import { systemEnvironment } from '../../../environment.ts';
import { atTestEnd } from '../../support/at-test-end.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'turnlock-lock-'));
  atTestEnd(() => rm(directory, { recursive: true }));
});

function lock() {
  return lockDirectory(directory, systemEnvironment.uuid);
}

/** Leaves a lock as another process would have. */
async function leaveLock(holder: object, number = 7): Promise<void> {
  const record = { pid: process.pid, host: hostname(), isReleased: false, ...processIdentity(process.pid), ...holder };
  await writeFile(join(directory, `turnlock.lock.${number}`), JSON.stringify(record));
}

test('a held directory is refused to the same process too, by its number', async () => {
  const first = await lock();
  expect(first.tookOverDeadHolder).toBe(false);
  await expect(lock()).rejects.toMatchObject({
    code: 'DATA_DIRECTORY_IN_USE',
    message: expect.stringContaining(String(process.pid)),
    details: { pid: process.pid, host: hostname() },
  });
});

test('a released directory is free, its last holder counts as alive, and one file is left', async () => {
  await (await lock()).release();
  const second = await lock();
  expect(second.tookOverDeadHolder).toBe(false);
  expect(await readdir(directory)).toEqual(['turnlock.lock.2']);
});

test('releasing twice, or after the directory was removed, does nothing', async () => {
  const held = await lock();
  await held.release();
  await held.release();
  const again = await lock();
  await rm(directory, { recursive: true });
  await expect(again.release()).resolves.toBeUndefined();
  directory = await mkdtemp(directory); // for the test's end
});

test.each([
  ['a process that does not exist', { pid: 2 ** 22 + 1 }],
  ['another process that got the number of the dead one', { startTicks: '1' }],
  ['a process from before the machine was started anew', { bootId: 'another' }],
])('a lock of %s is taken over', async (_what, holder) => {
  await leaveLock(holder);
  expect((await lock()).tookOverDeadHolder).toBe(true);
  expect(await readdir(directory)).toEqual(['turnlock.lock.8']);
});

test('a lock that was damaged with its machine is taken over', async () => {
  await writeFile(join(directory, 'turnlock.lock.3'), '{"pid"');
  await expect(lock()).resolves.toMatchObject({ tookOverDeadHolder: true });
});

test('a lock of another machine is refused, with its name and what to remove', async () => {
  await leaveLock({ host: 'elsewhere', pid: 1 });
  await expect(lock()).rejects.toMatchObject({
    code: 'DATA_DIRECTORY_IN_USE',
    message: expect.stringContaining('process 1 of host elsewhere'),
    hint: expect.stringContaining(join(directory, 'turnlock.lock.7')),
    details: { pid: 1, host: 'elsewhere' },
  });
});

test('of many who ask at once exactly one gets it, free or left by a dead one', async () => {
  for (const left of [false, true]) {
    if (left) await leaveLock({ pid: 2 ** 22 + 1 }, 100);
    const asked = await Promise.allSettled(Array.from({ length: 20 }, lock));
    const got = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const refused = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
    expect(got).toHaveLength(1);
    expect(new Set(refused)).toEqual(new Set(['DATA_DIRECTORY_IN_USE']));
    await got[0]!.release();
  }
});

test('a contender that was slow withdraws: the highest number holds', async () => {
  // It read number 7 as dead, and by the time it makes its 8, another one holds 9 and has removed 7 and 8.
  await leaveLock({ pid: 2 ** 22 + 1 }, 7);
  let isSlow = true;
  const slow = lockDirectory(directory, () => {
    if (isSlow) replaceBy9();
    isSlow = false;
    return systemEnvironment.uuid();
  });
  await expect(slow).rejects.toMatchObject({ code: 'DATA_DIRECTORY_IN_USE' });
  expect(await readdir(directory)).toEqual(['turnlock.lock.9']);
  expect(JSON.parse(await readFile(join(directory, 'turnlock.lock.9'), 'utf8'))).toMatchObject({ pid: process.pid });
});

function replaceBy9(): void {
  const record = { pid: process.pid, host: hostname(), isReleased: false, ...processIdentity(process.pid) };
  writeFileSync(join(directory, 'turnlock.lock.9'), JSON.stringify(record));
  rmSync(join(directory, 'turnlock.lock.7'));
}
