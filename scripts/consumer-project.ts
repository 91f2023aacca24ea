import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const NPM_INSTALL = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
const OURS = /^(?:node_modules\/turnlock\/|(?!node_modules\/))/;
const DIAGNOSTIC = /^(\S[^(\n]*)\(\d+,\d+\): error TS\d+: .*$/gm;

/** How a program ended. */
export interface Ending {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the compiler says about a project: what it says about files of ours, and how often it complains about each other package. */
export interface Compiled {
  readonly ours: readonly string[];
  readonly others: ReadonlyMap<string, number>;
}

/** A project of a user, with what its manifest names installed. */
export class ConsumerProject {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Makes a project of ES modules and installs `dependencies` and their peers into it, from npm's cache where it has them. */
  static async create(folder: string, dependencies: Readonly<Record<string, string>>): Promise<ConsumerProject> {
    mkdirSync(folder);
    const project = new ConsumerProject(folder);
    project.writeJson('package.json', { private: true, type: 'module', dependencies, allowScripts: { node: true } });
    await run('npm', NPM_INSTALL, { cwd: folder });
    return project;
  }

  /** A copy at `folder` with `dependencies` installed as well; of these, `allowScripts` names those that may run scripts. */
  async extend(
    folder: string,
    dependencies: Readonly<Record<string, string>>,
    allowScripts: Readonly<Record<string, boolean>> = {},
  ): Promise<ConsumerProject> {
    cpSync(this.folder, folder, { recursive: true, verbatimSymlinks: true });
    const path = join(folder, 'package.json');
    const project = JSON.parse(readFileSync(path, 'utf8'));
    const allowed = { ...project.allowScripts, ...allowScripts };
    writeFileSync(path, JSON.stringify({ ...project, allowScripts: allowed }, null, 2));
    const wanted = Object.entries(dependencies).map(([name, range]) => `${name}@${range}`);
    await run('npm', [...NPM_INSTALL, ...wanted], { cwd: folder });
    return new ConsumerProject(folder);
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(join(this.folder, name)), { recursive: true });
    writeFileSync(join(this.folder, name), text);
  }

  writeJson(name: string, content: unknown): void {
    this.write(name, JSON.stringify(content, null, 2));
  }

  /** The version of a package that is installed here. */
  versionOf(name: string): string {
    return JSON.parse(readFileSync(join(this.folder, 'node_modules', name, 'package.json'), 'utf8')).version;
  }

  /** Compiles `files` as strictly as a user may, declarations of packages included. */
  async compile(files: readonly string[], moduleResolution: 'nodenext' | 'bundler'): Promise<Compiled> {
    this.writeJson(`tsconfig.${moduleResolution}.json`, {
      compilerOptions: {
        module: moduleResolution === 'bundler' ? 'esnext' : 'nodenext',
        moduleResolution,
        target: 'es2024',
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noPropertyAccessFromIndexSignature: true,
        allowImportingTsExtensions: true,
        skipLibCheck: false,
        noEmit: true,
        types: [],
      },
      files,
    });
    const tsc = await end(resolve('node_modules/.bin/tsc'), ['-p', `tsconfig.${moduleResolution}.json`], this.folder);
    const found = [...tsc.stdout.matchAll(DIAGNOSTIC)];
    if (tsc.code !== 0 && found.length === 0) throw new Error(`the compiler failed:\n${tsc.stdout}${tsc.stderr}`);
    const others = new Map<string, number>();
    for (const [, path = ''] of found) {
      if (!OURS.test(path)) others.set(packageOf(path), (others.get(packageOf(path)) ?? 0) + 1);
    }
    return { ours: found.flatMap(([line, path = '']) => (OURS.test(path) ? [line] : [])), others };
  }

  /** Runs a command with `node` and this project's own commands first in the path; one that fails is no error here. */
  async end(command: string, args: readonly string[], node: string): Promise<Ending> {
    return await end(command, args, this.folder, [dirname(node), join(this.folder, 'node_modules/.bin')]);
  }

  /** The same, of a command that has to succeed; returns what it printed. */
  async run(command: string, args: readonly string[], node: string): Promise<string> {
    const { code, stdout, stderr } = await this.end(command, args, node);
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
    return stdout;
  }
}

async function end(command: string, args: readonly string[], cwd: string, first: string[] = []): Promise<Ending> {
  const env = { ...process.env, PATH: [...first, process.env.PATH].join(delimiter) };
  try {
    return { code: 0, ...(await run(command, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 })) };
  } catch (error) {
    const { code, stdout, stderr } = error as Ending;
    if (typeof code !== 'number') throw error;
    return { code, stdout, stderr };
  }
}

function packageOf(path: string): string {
  const inside = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length).split('/');
  return inside.slice(0, inside[0]?.startsWith('@') ? 2 : 1).join('/');
}
