import { expectTypeOf, test } from 'vitest';
import type { FreshDatabase } from '../support/fresh-database.ts';

test('a type test compares types', () => {
  expectTypeOf<FreshDatabase['url']>().toEqualTypeOf<string>();
  // @ts-expect-error a number is no string
  const wrong: string = 1;
  void wrong;
});
