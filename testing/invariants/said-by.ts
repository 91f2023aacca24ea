/** What an invariant says that does not hold; `null`: it holds. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is one of them
export function saidBy(look: () => boolean | string | void): string | null {
  try {
    const said = look();
    if (typeof said === 'string') return said;
    return said === false ? 'it does not hold' : null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
