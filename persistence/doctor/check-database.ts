import type { EntityManager } from '@mikro-orm/postgresql';
import { inPatientTransaction } from '../patient-transaction.ts';
import type { Store } from '../session-transaction.ts';
import { checkSchemaObjects } from './check-schema.ts';
import { DOCTOR_CODES, type DoctorCode, type Found } from './doctor-codes.ts';

/** Milliseconds by which two clocks may differ before it is worth a word. */
const MAX_SKEW_MS = 5_000;

/** What is not as it should be of the database itself: settings, clocks, schema. */
export async function checkDatabase(store: Store): Promise<Found[]> {
  const settings = (await store.database.reviewSetup()).flatMap(({ code, message }): Found[] =>
    code in DOCTOR_CODES
      ? [{ code: code as DoctorCode, place: null, found: message, wanted: 'a setting that keeps it' }]
      : [],
  );
  return [...settings, ...(await checkClocks(store)), ...(await checkSchemaObjects(store))];
}

async function checkClocks(store: Store): Promise<Found[]> {
  const { environment } = store;
  return inPatientTransaction(store, { tenantId: '' }, async (em) => {
    const before = environment.now();
    const { clockMs, turnlockMs } = await readClocks(em);
    const after = environment.now();
    const found: Found[] = [];
    const shiftMs = Math.round(turnlockMs - clockMs);
    if (Math.abs(shiftMs) > MAX_SKEW_MS) {
      found.push({
        code: 'CLOCK_SHIFTED',
        place: 'turnlock_clock',
        found: `${Math.round(shiftMs / 1_000)} s`,
        wanted: '0 s',
      });
    }
    // The reading was made somewhere between the two of ours.
    const skewMs = clockMs < before ? clockMs - before : Math.max(0, clockMs - after);
    if (Math.abs(skewMs) > MAX_SKEW_MS) {
      const wanted = `less than ${MAX_SKEW_MS} ms`;
      const which = skewMs < 0 ? 'behind' : 'ahead';
      const said = `the database ${Math.round(Math.abs(skewMs))} ms ${which}`;
      found.push({ code: 'CLOCK_SKEW', place: null, found: said, wanted });
    }
    return found;
  });
}

async function readClocks(em: EntityManager): Promise<{ clockMs: number; turnlockMs: number }> {
  const [row] = (await em.execute(
    `select (extract(epoch from clock_timestamp()) * 1000)::float8 as clock, (extract(epoch from turnlock.turnlock_now()) * 1000)::float8 as own`,
  )) as [{ clock: number; own: number }];
  return { clockMs: row.clock, turnlockMs: row.own };
}
