/** Whether `value` is an object as a literal or JSON.parse makes it, of whatever realm; not an instance, a Map, a namespace. */
export function isPlainObject(value: object): boolean {
  if (Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && !isRootPrototype(prototype as object)) return false;
  return !(Symbol.toStringTag in value) && !(Symbol.iterator in value);
}

/** Whether `value` is an array as a literal makes it, of whatever realm; not an instance of a class that extends Array. */
export function isPlainArray(value: object): value is unknown[] {
  if (!Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null) return false;
  const root: unknown = Object.getPrototypeOf(prototype);
  return root !== null && isRootPrototype(root as object);
}

/** Whether `prototype` is the `Object.prototype` of some realm. */
function isRootPrototype(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'hasOwnProperty');
}
