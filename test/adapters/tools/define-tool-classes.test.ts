import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../adapters/tools/define-tool.ts';

const sound = { name: 'refund', description: 'Refunds.', inputSchema: z.object({}), execute: () => 'ok' };
const define = defineTool as unknown as (definition: unknown) => { retry: unknown };

test.each<[string, object]>([
  ['reconcilable without reconcile', { effect: 'reconcilable' }],
  ['reconcile of another class', { effect: 'idempotent', reconcile: () => null }],
  ['reconcile of a transactional tool', { effect: 'transactional', reconcile: () => null }],
  ['a class that is none', { effect: 'exactlyOnce' }],
  ['reconcile that is no function', { effect: 'reconcilable', reconcile: 'look' }],
  ['an output schema that is none', { outputSchema: {} }],
  ['retry that is no object', { retry: 3 }],
  ['retry without attempts', { retry: {} }],
  ['no attempt at all', { retry: { attempts: 0 } }],
  ['half an attempt', { retry: { attempts: 1.5 } }],
  ['an option of retry that is none', { retry: { attempts: 2, delay: 5 } }],
  ['a back-off that is no object', { retry: { attempts: 2, backoff: [] } }],
  ['an option of back-off that is none', { retry: { attempts: 2, backoff: { delay: 5 } } }],
  ['a negative wait', { retry: { attempts: 2, backoff: { initialMs: -1 } } }],
  ['a wait that no timer holds', { retry: { attempts: 2, backoff: { maxMs: 2 ** 31 } } }],
  ['a factor below 1', { retry: { attempts: 2, backoff: { factor: 0.5 } } }],
  ['jitter above 1', { retry: { attempts: 2, backoff: { jitter: 1.5 } } }],
  ['a choice about repeats that is none', { onRepeat: 'wait' }],
  ['a guard of repeats that do no harm', { effect: 'idempotent', onRepeat: 'ask' }],
  ['a business key that is no object', { once: 'order' }],
  ['a business key without a function', { once: { per: 'tenant' } }],
  ['a business key that counts within nothing', { once: { per: 'user', key: () => 'a' } }],
  ['a choice about sharing that is none', { once: { per: 'tenant', key: () => 'a', shareAcrossUsers: 'yes' } }],
  ['an option of business keys that is none', { once: { per: 'tenant', key: () => 'a', ttlMs: 5 } }],
  ['a business key beside a guard of repeats', { once: { per: 'tenant', key: () => 'a' }, onRepeat: 'ask' }],
  ['a wait that is no number', { retry: { attempts: 2, backoff: { initialMs: Number.NaN } } }],
])('refuses %s', (_title, change) => {
  expect(() => define({ ...sound, ...change })).toThrow(expect.objectContaining({ code: 'DEFINITION_INVALID' }));
});

test('a back-off has its defaults, part by part', () => {
  expect(define({ ...sound, retry: { attempts: 3 } }).retry).toEqual({
    attempts: 3,
    backoff: { initialMs: 1_000, factor: 2, maxMs: 60_000, jitter: 0.5 },
  });
  expect(define({ ...sound, retry: { attempts: 3, backoff: { factor: 1 } } }).retry).toMatchObject({
    backoff: { initialMs: 1_000, factor: 1 },
  });
  expect(define(sound).retry).toBeNull();
});

test('a repeat asks a person, unless it does no harm', () => {
  const onRepeatOf = (change: object) => (define({ ...sound, ...change }) as unknown as { onRepeat: string }).onRepeat;
  expect(onRepeatOf({})).toBe('ask');
  expect(onRepeatOf({ effect: 'reconcilable', reconcile: () => null })).toBe('ask');
  expect(onRepeatOf({ onRepeat: 'answer' })).toBe('answer');
  expect(['readOnly', 'idempotent'].map((effect) => onRepeatOf({ effect }))).toEqual(['run', 'run']);
});
