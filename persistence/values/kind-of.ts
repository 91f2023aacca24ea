/** What kind of value `value` is, for messages: `a Date`, `NaN`, `an array`. Runs no code of the value that could throw out of it. */
export function kindOf(value: unknown): string {
  switch (typeof value) {
    case 'object':
      return value === null ? 'null' : kindOfObject(value);
    case 'number':
      return Number.isFinite(value) ? 'a number' : String(value);
    case 'undefined':
      return 'undefined';
    case 'bigint':
      return 'a BigInt';
    default:
      return `a ${typeof value}`;
  }
}

function kindOfObject(value: object): string {
  try {
    if (Array.isArray(value)) return 'an array';
    const made: unknown = value.constructor;
    const name = typeof made === 'function' ? made.name : '';
    if (typeof name !== 'string' || !/^[\w$]{1,64}$/.test(name) || name === 'Object') return 'an object';
    return `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`;
  } catch {
    return 'an object that cannot be read';
  }
}
