import { expect, test } from 'vitest';
import { spawnChild } from '../support/child.ts';
import { processIsAlive } from '../support/process-is-alive.ts';

const ECHO = 'test/tooling/echo.child.ts';

test('a child talks in messages and dies by its id', async () => {
  const child = spawnChild(ECHO);
  expect(await child.next('ready')).toMatchObject({ pid: child.pid });
  child.send({ type: 'question', text: 'one' });
  expect(await child.next('answer')).toMatchObject({ text: 'one' });
  expect(await child.kill()).toEqual({ code: null, signal: 'SIGKILL' });
  expect(processIsAlive(child.pid)).toBe(false);
});

test('waiting for a child that ended fails with what it printed', async () => {
  const child = spawnChild('test/tooling/no-such-file.ts');
  await expect(child.next('ready')).rejects.toThrow(
    /ended \(1\) before it said ready:[\s\S]*ERR_MODULE_NOT_FOUND|Cannot find/,
  );
});
