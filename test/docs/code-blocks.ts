/** A fenced block of a document. */
export interface CodeBlock {
  /** Line of its first line of text, from 1 on. */
  readonly line: number;
  /** What stands behind the fence: `ts`, `sh`, `text` … */
  readonly language: string;
  /** Name of the file that it is, where the text before it says so: a line that is `name` in backticks and a colon. */
  readonly file: string | null;
  readonly text: string;
}

const FENCE = /^```(\S*)\n([\s\S]*?)^```$/gm;
const FILE_NAME = /(?:^|\n)`([\w./-]+)`:\s*$/;

/** The fenced blocks of a Markdown text, in order. */
export function codeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(FENCE)].map((match) => {
    const before = markdown.slice(0, match.index);
    return {
      line: before.split('\n').length + 1,
      language: match[1] ?? '',
      file: FILE_NAME.exec(before)?.[1] ?? null,
      text: match[2] ?? '',
    };
  });
}

/** The blocks of one language. */
export function blocksOf(markdown: string, language: string): string[] {
  return codeBlocks(markdown)
    .filter((block) => block.language === language)
    .map(({ text }) => text);
}
