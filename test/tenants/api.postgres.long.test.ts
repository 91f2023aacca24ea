import { onPostgres } from '../support/runtime-database.ts';
import { withRole } from './as-least-privileged.ts';
import { TENANT_PAIRS } from './tenant-world.ts';
import { describeApiOfTwoTenants } from './two-tenants.ts';

onPostgres((database) => {
  describeApiOfTwoTenants('the least-privileged role', TENANT_PAIRS.slice(1))(withRole(database));
  // Row-level security does not hold for the owner: what is shown here is the work of the statements alone.
  describeApiOfTwoTenants('the owner', TENANT_PAIRS.slice(0, 2))(database);
});
