import { posix } from 'node:path';
import { withoutComments } from './find-imports.ts';

/** What a public name is. */
export type NameKind = 'function' | 'class' | 'constant' | 'type';

/** One name of an entry point, as it stands at its declaration. */
export interface PublicName {
  readonly name: string;
  readonly kind: NameKind;
  /** Path of the source that declares it. */
  readonly path: string;
  /** The first sentence of its doc comment; `null` when it has none. */
  readonly says: string | null;
  /** The declaration of a function without its body; `null` of anything else. */
  readonly signature: string | null;
}

const RE_EXPORT = /^export\s+(type\s+)?\{([^}]*)\}\s+from\s+'([^']+)';/gm;
const DECLARATION = /^export (?:declare )?(?:abstract )?(?:async )?(function|class|const|interface|type) (\w+)/gm;

/**
 * The names that the entry `path` exports, in alphabetical order. They are found in the text of the sources: the compiler in use has no
 * programming interface. An entry exports what it declares and what it names in `export { … } from`, one step deep.
 *
 * @throws Error for a form of export that this does not know, and for a name that its source does not declare.
 */
export function readPublicNames(path: string, readSource: (path: string) => string): PublicName[] {
  const code = withoutComments(readSource(path));
  const unknown = /^export (?:\*|default|\{[^}]*\};).*$/m.exec(code);
  if (unknown) throw new Error(`${path}: a form of export that is not read: ${unknown[0]}`);
  const own = [...code.matchAll(DECLARATION)].map(([, , name = '']) => declarationOf(name, name, path, readSource));
  const named = [...code.matchAll(RE_EXPORT)].flatMap(([, allTypes, list = '', from = '']) =>
    [...list.matchAll(/(type\s+)?(\w+)(?:\s+as\s+(\w+))?/g)].map(([, oneType, declared = '', name = declared]) => {
      const found = declarationOf(name, declared, posix.join(posix.dirname(path), from), readSource);
      return allTypes || oneType ? { ...found, kind: 'type' as const } : found; // a class may be exported as a type alone
    }),
  );
  return [...own, ...named].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const KINDS: Readonly<Record<string, NameKind>> = {
  function: 'function',
  class: 'class',
  const: 'constant',
  interface: 'type',
  type: 'type',
};

function declarationOf(name: string, declared: string, path: string, readSource: (path: string) => string): PublicName {
  const source = readSource(path);
  const found = [...source.matchAll(DECLARATION)].find((match) => match[2] === declared);
  if (found === undefined) throw new Error(`${path}: ${declared} is exported and not declared there`);
  const kind = KINDS[found[1] as string] as NameKind;
  return {
    name,
    kind,
    path,
    says: firstSentence(source.slice(0, found.index)),
    signature: kind === 'function' ? signatureAt(source, found.index) : null,
  };
}

/** The first sentence of the doc comment that ends where `before` does. */
function firstSentence(before: string): string | null {
  const start = before.lastIndexOf('/**');
  const comment = start < 0 ? null : /^\/\*\*([\s\S]*?)\*\/\s*$/.exec(before.slice(start))?.[1];
  if (!comment) return null;
  const [paragraph = ''] = comment
    .replace(/^ *\* ?/gm, '')
    .trim()
    .split(/\n\s*\n|\n(?=@|- )/);
  const text = paragraph.replace(/\s+/g, ' ').replace(/\{@link (\w+)[^}]*\}/g, '`$1`');
  const sentence = (/^.*?[.!?](?=\s+[^a-z]|$)/.exec(text)?.[0] ?? text).replace(/:$/, '.');
  return sentence === '' || sentence.startsWith('@') ? null : sentence;
}

/** The declaration that begins at `start`, without `export`, `async` and the body. */
function signatureAt(source: string, start: number): string {
  const text = withoutComments(source.slice(start));
  let depth = 0;
  for (let place = text.indexOf('('); place < text.length; place += 1) {
    const before = text.slice(0, place).trimEnd();
    const isBody = text[place] === '{' && depth === 0 && !/(?:[:|&,<(?]|=>)$/.test(before);
    if (isBody) return tidy(before);
    if ('([{'.includes(text[place] as string)) depth += 1;
    if (')]}'.includes(text[place] as string)) depth -= 1;
  }
  throw new Error(`a function without a body: ${text.slice(0, 80)}`);
}

function tidy(signature: string): string {
  return signature
    .replace(/^export (?:async )?/, '')
    .replace(/\s+/g, ' ')
    .replace(/([(<[]) /g, '$1')
    .replace(/,? ([)>\]])/g, (match, close) => (match === ' >' ? match : close));
}
