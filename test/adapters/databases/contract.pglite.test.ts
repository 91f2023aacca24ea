import { describe } from 'vitest';
import { pglite } from '../../../adapters/databases/pglite.ts';
import { databaseContract } from '../../../testing/contracts/database-contract.ts';
import { freshPglite } from '../../support/pglite.ts';
import { contractTests } from '../../testing/contracts/contract-tests.ts';

describe('a PGlite of the program', async () => {
  const instance = await freshPglite();
  contractTests(databaseContract({ kind: 'pglite', make: () => pglite({ instance }) }));
});
