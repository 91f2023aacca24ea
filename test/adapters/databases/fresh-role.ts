import { randomBytes } from 'node:crypto';
import { atTestEnd } from '../../support/at-test-end.ts';
import { withClient } from '../../support/with-client.ts';

/** A role of the cluster that may log in and was granted nothing. */
export interface FreshRole {
  readonly name: string;
  /** URL of the same database, as this role. */
  readonly url: string;
  readonly password: string;
}

/** Makes a role for the current test, and drops it with all that it owns in this database at the end. */
export async function freshRole(url: string): Promise<FreshRole> {
  const name = `turnlock_test_${randomBytes(5).toString('hex')}`;
  const password = randomBytes(9).toString('base64url');
  await withClient(url, (client) => client.query(`CREATE ROLE ${name} LOGIN PASSWORD '${password}'`));
  atTestEnd(() =>
    withClient(url, async (client) => void (await client.query(`DROP OWNED BY ${name} CASCADE; DROP ROLE ${name}`))),
  );
  return { name, password, url: Object.assign(new URL(url), { username: name, password }).href };
}
