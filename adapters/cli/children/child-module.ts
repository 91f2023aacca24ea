import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Path of a module that a process of its own runs: beside the module `from` (its `import.meta.url`), under `name` without extension.
 * It has the extension of the module that asks: `.ts` in the sources, `.js` in the package.
 */
export function childModule(from: string, name: string): string {
  return fileURLToPath(new URL(`./${name}${extname(fileURLToPath(from))}`, from));
}
