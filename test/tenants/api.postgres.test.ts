import { onPostgres } from '../support/runtime-database.ts';
import { withRole } from './as-least-privileged.ts';
import { TENANT_PAIRS } from './tenant-world.ts';
import { describeApiOfTwoTenants, describeCompleteness } from './two-tenants.ts';

onPostgres((database) => {
  describeApiOfTwoTenants('the least-privileged role', TENANT_PAIRS.slice(0, 1))(withRole(database));
  describeCompleteness(database);
});
