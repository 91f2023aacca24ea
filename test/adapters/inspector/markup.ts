/** An element's beginning as a page has it. */
export interface Tag {
  name: string;
  attributes: ReadonlyMap<string, string>;
}

/** What a page is made of. */
export interface Parsed {
  tags: readonly Tag[];
  /** The text between the tags, with references resolved. */
  text: string;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/**
 * Reads a page more strictly than a browser: whatever is not a whole tag of ours with quoted attributes, a comment, a doctype, or text without
 * an angle bracket is an error. So what gets through is read in only one way.
 */
export function parsePage(page: string): Parsed {
  const tags: Tag[] = [];
  const texts: string[] = [];
  let rest = page;
  while (rest !== '') {
    const text = /^[^<>]+/.exec(rest)?.[0];
    const closing = /^<\/[a-z][a-z0-9]*>/.exec(rest)?.[0] ?? /^<!(?:doctype html)>/.exec(rest)?.[0];
    const opening = /^<([a-z][a-z0-9]*)((?:\s+[a-zA-Z][\w:-]*(?:="[^"<>]*")?)*)\s*\/?>/.exec(rest);
    if (text !== undefined) texts.push(resolve(text));
    else if (opening !== null) tags.push({ name: opening[1] ?? '', attributes: attributesOf(opening[2] ?? '') });
    else if (closing === undefined) throw new Error(`no markup of ours: ${rest.slice(0, 200)}`);
    rest = rest.slice((text ?? closing ?? opening?.[0] ?? '').length);
  }
  return { tags, text: texts.join('') };
}

function attributesOf(text: string): ReadonlyMap<string, string> {
  const found = text.matchAll(/([a-zA-Z][\w:-]*)(?:="([^"]*)")?/g);
  return new Map([...found].map(([, name = '', value = '']) => [name.toLowerCase(), resolve(value)]));
}

function resolve(text: string): string {
  return text.replace(/&(#39|[a-z]+);|&/g, (whole, name: string | undefined) => {
    const character = name === undefined ? undefined : ENTITIES[name];
    if (character === undefined) throw new Error(`no reference of ours: ${whole}`);
    return character;
  });
}
