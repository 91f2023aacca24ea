/** Who looks at the inspector. */
export interface Viewer {
  /** Whose sessions are shown. `null`: those of all tenants, for which the database's role needs the rights of `turnlock_operator`. */
  tenantId: string | null;
  /** Only this user's sessions are shown. `null` or absent: those of every user. */
  userId?: string | null;
  /** Who it is in decisions and the audit: 1 to 255 characters. */
  by: string;
  /** Roles, which the policy's `approvers` may ask for. Default none. */
  roles?: readonly string[];
}
