import { beforeAll, describe } from 'vitest';
import { postgres } from '../../../adapters/databases/postgres.ts';
import { databaseContract } from '../../../testing/contracts/database-contract.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { contractTests } from '../../testing/contracts/contract-tests.ts';

let url: string;

beforeAll(async () => {
  ({ url } = await freshDatabase());
});

describe('a server', () => {
  contractTests(databaseContract({ kind: 'postgres', make: () => postgres(url) }));
});

describe('a server that is listened to', () => {
  const make = () => postgres(url, { listen: url });
  contractTests(databaseContract({ kind: 'postgres', make, hears: true }).filter(({ title }) => /NOTIFY/.test(title)));
});
