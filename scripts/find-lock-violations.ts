/** What is read of package-lock.json. */
export interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly resolved?: string }>>;
}

/** Two copies of these would break classes shared between MikroORM, the driver and the bundler. */
const SINGLE = ['pg', 'kysely', 'vite', '@mikro-orm/core', 'xstate', 'zod'];

/** A lock names no registry host, and holds one copy of what must be single. */
export function findLockViolations(lock: Lock): string[] {
  const entries = Object.entries(lock.packages);
  const copies = SINGLE.flatMap((name) => {
    const found = entries.filter(([path]) => path === `node_modules/${name}` || path.endsWith(`/node_modules/${name}`));
    return found.length === 1 ? [] : [`package-lock.json: ${found.length} copies of ${name}, wanted one`];
  });
  return [...findHosts('package-lock.json', lock), ...copies];
}

/** The packages of a lock that name the host of a registry. */
export function findHosts(file: string, lock: Lock): string[] {
  return Object.entries(lock.packages).flatMap(([path, { resolved }]) =>
    resolved?.includes('://') ? [`${file}: ${path} is resolved to ${resolved}`] : [],
  );
}
