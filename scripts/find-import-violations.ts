import { posix } from 'node:path';
import { findImports, type ImportOf } from './find-imports.ts';
import { CYCLES_ALLOWED, DATABASE_PACKAGES, LAYERS, type Layer, PRODUCT } from './layers.ts';
import type { SourceFiles } from './source-files.ts';

/** Checks direction, packages, barrels and cycles of every TypeScript file; `entries` are the files that may re-export. */
export function findImportViolations(files: SourceFiles, entries: ReadonlySet<string>): string[] {
  const violations: string[] = [];
  const graph = new Map<string, string[]>();
  for (const [path, text] of files) {
    if (!path.endsWith('.ts')) continue;
    const layer = LAYERS.find((one) => one.holds.test(path));
    if (!layer) {
      violations.push(`${path}: belongs to no layer. Move it, or add the folder to scripts/layers.ts.`);
      continue;
    }
    const imports = findImports(text);
    const targets = imports.flatMap((one) => (isRelative(one) ? [{ ...one, target: resolve(path, one) }] : []));
    graph.set(
      path,
      targets.flatMap((one) => (one.isTypeOnly ? [] : [one.target])),
    );
    for (const one of targets) {
      if (!mayImport(layer, one.target, one.isTypeOnly)) {
        violations.push(`${path}: ${layer.name} must not import ${one.target}${one.isTypeOnly ? ' (type)' : ''}`);
      }
      if (one.isReExport && PRODUCT.test(path) && !entries.has(path)) {
        violations.push(`${path}: re-exports ${one.target}, and only entry points of package.json may`);
      }
    }
    for (const one of imports) {
      if (!isRelative(one) && !mayImportPackage(layer, one)) {
        violations.push(`${path}: ${layer.name} must not import the package ${one.specifier}`);
      }
    }
  }
  const cycles = findCycles(graph).filter((cycle) => !cycle.every((path) => CYCLES_ALLOWED.test(path)));
  return [...violations, ...cycles.map((cycle) => `cycle: ${cycle.join(' -> ')}`)];
}

function isRelative(one: ImportOf): boolean {
  return one.specifier.startsWith('.');
}

function resolve(path: string, one: ImportOf): string {
  return posix.join(posix.dirname(path), one.specifier);
}

function mayImport(layer: Layer, target: string, isTypeOnly: boolean): boolean {
  return layer.mayImport.test(target) || (isTypeOnly && (layer.mayImportTypesOf?.test(target) ?? false));
}

function mayImportPackage(layer: Layer, one: ImportOf): boolean {
  if (layer.packages) return layer.packages.test(one.specifier);
  return one.isTypeOnly || !DATABASE_PACKAGES.test(one.specifier);
}

/** Depth-first; each cycle is reported once, from the file where it closes. */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const open: string[] = [];
  function visit(path: string): void {
    const start = open.indexOf(path);
    if (start >= 0) cycles.push([...open.slice(start), path]);
    if (start >= 0 || done.has(path)) return;
    open.push(path);
    for (const target of graph.get(path) ?? []) visit(target);
    open.pop();
    done.add(path);
  }
  for (const path of graph.keys()) visit(path);
  return cycles;
}
