/** Tenants of one size, each with one user. */
export interface TenantSize {
  tenants: number;
  /** Of each of them. */
  memories: number;
}

/** One user's memories: the only ones that are searched together. */
export interface Owner {
  tenantId: string;
  userId: string;
  memories: number;
}

/** How 100,000 memories lie over 1,000 tenants: one has 30,000 of them, nine of ten have 50 or less. */
export const LARGE: readonly TenantSize[] = [
  { tenants: 1, memories: 30_000 },
  { tenants: 2, memories: 6_000 },
  { tenants: 5, memories: 3_000 },
  { tenants: 90, memories: 200 },
  { tenants: 300, memories: 50 },
  { tenants: 398, memories: 20 },
  { tenants: 204, memories: 10 },
];

/** The same in small: one tenth of it, over 160 tenants. */
export const SMALL: readonly TenantSize[] = [
  { tenants: 1, memories: 4_000 },
  { tenants: 5, memories: 500 },
  { tenants: 8, memories: 125 },
  { tenants: 40, memories: 50 },
  { tenants: 50, memories: 10 },
];

/** The short form: 5,000 over 85 tenants. */
export const QUICK: readonly TenantSize[] = [
  { tenants: 1, memories: 2_000 },
  { tenants: 4, memories: 250 },
  { tenants: 30, memories: 50 },
  { tenants: 50, memories: 10 },
];

/** Those who have them. */
export function ownersOf(sizes: readonly TenantSize[]): Owner[] {
  return sizes.flatMap(({ tenants, memories }) =>
    Array.from({ length: tenants }, (_, index) => ({
      tenantId: `tenant-${memories}-${index}`,
      userId: `user-${memories}-${index}`,
      memories,
    })),
  );
}
