import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { systemEnvironment } from '../../environment.ts';
import { defineTool, LIMITS, versioned } from '../../index.ts';
import type { Json } from '../../machines/event-content.ts';
import { paramsDigest } from '../../persistence/keys/params-digest.ts';
import { turnIdempotencyKey } from '../../persistence/keys/turn-idempotency-key.ts';
import type { StoredParams } from '../../persistence/present-params.ts';
import { approvalHolds, paramsToRun } from '../../runtime/upgrade-params.ts';

const upgrading = { environment: systemEnvironment, limits: LIMITS, signal: new AbortController().signal };

const V1 = z.object({ order: z.string().transform(Number) });
const V2 = z.object({ orderId: z.string() });
const V3 = z.object({ orderId: z.string(), cents: z.number().default(0) });

const calls: unknown[] = [];
const refund = defineTool({
  name: 'refund',
  description: '',
  inputSchema: versioned(V1)
    .to(V2, (old) => {
      calls.push(old);
      return { orderId: `A-${old.order}` };
    })
    .to(V3, async (old) => old),
  execute: () => null,
});

function stored(toolVersion: number, inputParameters: Json, over: Partial<StoredParams> = {}): StoredParams {
  return {
    toolName: 'refund',
    toolVersion,
    inputParameters,
    paramsDigest: paramsDigest(inputParameters),
    upgradedVersion: null,
    upgradedParameters: null,
    upgradedDigest: null,
    ...over,
  };
}

/** A tool of two versions, with this upgrade. */
const withUpgrade = (upgrade: (old: unknown) => unknown, timeoutMs = 1_000) =>
  defineTool({
    name: 'refund',
    description: '',
    inputSchema: versioned(z.any()).to(z.object({ id: z.string() }), upgrade as never),
    timeoutMs,
    execute: () => null,
  });

describe('C69 params of an older version', () => {
  test('are upgraded step by step, each step validated, and today’s are left as they are', async () => {
    const params = { orderId: 'A-7', cents: 0 };
    const upgrade = { toVersion: 3, paramsDigest: paramsDigest(params), content: { params } };
    for (const [version, old] of [
      // What the first version's schema made of text: a number, which it would not take itself.
      [1, { order: 7 }],
      [2, { orderId: 'A-7' }],
    ] as const) {
      expect(await paramsToRun(upgrading, refund, stored(version, old))).toEqual({
        params,
        digest: paramsDigest(params),
        upgrade,
      });
    }
    expect(calls).toEqual([{ order: 7 }]);
    const today = { orderId: 'A-7', cents: 5 };
    expect(await paramsToRun(upgrading, refund, stored(3, today))).toEqual({
      params: today,
      digest: paramsDigest(today),
      upgrade: null,
    });
  });

  test('that were upgraded before go on from there: an attempt that ran with them and the next one have the same', async () => {
    const upgradedParameters = { orderId: 'B-8' };
    const upgradedDigest = paramsDigest(upgradedParameters);
    const row = stored(1, { order: 7 }, { upgradedVersion: 2, upgradedParameters, upgradedDigest });
    expect(await paramsToRun(upgrading, refund, row)).toMatchObject({ params: { orderId: 'B-8', cents: 0 } });
    const done = { ...row, upgradedVersion: 3 };
    expect(await paramsToRun(upgrading, refund, done)).toEqual({
      params: upgradedParameters,
      digest: upgradedDigest,
      upgrade: null,
    });
  });

  test.each<[string, (old: unknown) => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no order');
      },
      'no order',
    ],
    [
      'rejects',
      async () => {
        throw new Error('no order');
      },
      'no order',
    ],
    ['makes what the next schema does not take', () => ({ id: 7 }), 'version 2 made does not fit its schema: /id'],
    ['makes nothing', () => undefined, 'does not fit'],
    ['does not end', () => new Promise(() => undefined), 'did not end within 20 ms'],
  ])('are never run where an upgrade %s', async (_, upgrade, message) => {
    const ready = await paramsToRun(upgrading, withUpgrade(upgrade, 20), stored(1, { a: 1 }));
    expect(ready).toEqual({ problem: { code: 'UPGRADE_FAILED', message: expect.stringContaining(message) } });
  });

  test('are never run where they cannot be stored, or are of a version that this build has not', async () => {
    const anything = defineTool({
      name: 'refund',
      description: '',
      inputSchema: versioned(z.any()).to(
        z.any().transform(() => new Date(0)),
        (old) => old,
      ),
      execute: () => null,
    });
    expect(await paramsToRun(upgrading, anything, stored(1, {}))).toMatchObject({
      problem: { code: 'UPGRADE_FAILED' },
    });
    for (const version of [0, 4]) {
      expect(await paramsToRun(upgrading, refund, stored(version, {}))).toMatchObject({
        problem: { code: 'UPGRADE_FAILED', message: expect.stringContaining('version 3') },
      });
    }
  });

  test('of a tool that is gone are never run', async () => {
    expect(await paramsToRun(upgrading, undefined, stored(1, {}))).toMatchObject({ problem: { code: 'TOOL_UNKNOWN' } });
  });

  test('an upgrade gets a copy: what it does to it changes nothing', async () => {
    const row = stored(1, { a: { b: 1 } });
    await paramsToRun(
      upgrading,
      withUpgrade((old) => {
        (old as { a: { b: number } }).a.b = 2;
        return { id: 'x' };
      }),
      row,
    );
    expect(row.inputParameters).toEqual({ a: { b: 1 } });
  });

  test('an approval holds while the digest is the same; where it changed, only if the tool says so', async () => {
    const row = stored(1, { order: 7 });
    const changed = await paramsToRun(upgrading, refund, row);
    const same = await paramsToRun(upgrading, refund, stored(3, { orderId: 'A-7', cents: 0 }));
    if ('problem' in changed || 'problem' in same) throw new Error('not ready');
    expect(approvalHolds(refund, changed, row.paramsDigest)).toBe(false);
    expect(approvalHolds({ ...refund, keepsApproval: true }, changed, row.paramsDigest)).toBe(true);
    expect(approvalHolds(refund, same, same.digest)).toBe(true);
  });
});

/** One line for each version of the tool above: rows as that version's build wrote them. They stay readable for ever. */
const RELEASED = new URL('../fixtures/tool-params.jsonl', import.meta.url);

test('C69 what each released version wrote is read today: same digest, same key, and params that today’s tool takes', async () => {
  const rows = readFileSync(RELEASED, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows.map((row) => row.toolVersion)).toEqual([1, 2, 3]);
  for (const { toolVersion, sessionId, turnIndex, inputParameters, digest, idempotencyKey, today } of rows) {
    expect(paramsDigest(inputParameters)).toBe(digest);
    expect(turnIdempotencyKey({ sessionId, turnIndex, toolName: 'refund', digest })).toBe(idempotencyKey);
    expect(await paramsToRun(upgrading, refund, stored(toolVersion, inputParameters))).toMatchObject({ params: today });
  }
});
