import pg from 'pg';

/** One message to the server and its answer: one round trip, in which the server may have carried out several statements. */
export interface RoundTrip {
  readonly text: string;
  /** The first word of each statement's command tag: `BEGIN`, `SELECT`, `INSERT`, `COMMIT`. */
  readonly commands: readonly string[];
}

/** A pool that notes what passes through it. */
export interface CountedPool {
  readonly pool: pg.Pool;
  /** What has passed since the last call, oldest first; then it begins anew. */
  take(): RoundTrip[];
}

type Answer = { command: string };

/** A pool of one connection to `url`, so that what is noted stands in the order in which it was sent. */
export function countedPool(url: string): CountedPool {
  const pool = new pg.Pool({ connectionString: url, max: 1, application_name: 'turnlock-bench' });
  pool.on('error', () => undefined);
  let trips: RoundTrip[] = [];
  pool.on('connect', (client) => {
    const send = client.query.bind(client) as (query: unknown, values?: unknown) => Promise<Answer | Answer[]>;
    const counted = async (query: unknown, values?: unknown) => {
      const answer = await send(query, values);
      const text = typeof query === 'string' ? query : (query as { text: string }).text;
      trips.push({ text, commands: [answer].flat().map(({ command }) => command) });
      return answer;
    };
    Object.assign(client, { query: counted });
  });
  return {
    pool,
    take() {
      const taken = trips;
      trips = [];
      return taken;
    },
  };
}
