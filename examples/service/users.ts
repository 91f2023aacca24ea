/*
 * Who may do what. This stands in for the sign-in that your service has: a name in a cookie proves nothing.
 */

/** Somebody who works at the desk. */
export interface User {
  userId: string;
  name: string;
  tenantId: string;
  roles: readonly string[];
}

/** Two shops; nobody of the one sees anything of the other. */
export const USERS: readonly User[] = [
  { userId: 'ana', name: 'Ana', tenantId: 'acme', roles: ['manager'] },
  { userId: 'bo', name: 'Bo', tenantId: 'acme', roles: [] },
  { userId: 'cy', name: 'Cy', tenantId: 'globex', roles: ['manager'] },
];

/** Who sent the request; `null` for nobody. */
export function userOf(request: Request): User | null {
  const [, userId] = /(?:^|;\s*)desk-user=([\w-]+)/.exec(request.headers.get('cookie') ?? '') ?? [];
  return USERS.find((user) => user.userId === userId) ?? null;
}

/** The cookie that says so. */
export function cookieOf(userId: string): string {
  const user = USERS.find((one) => one.userId === userId);
  return `desk-user=${user?.userId ?? ''}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${user === undefined ? 0 : 86_400}`;
}
