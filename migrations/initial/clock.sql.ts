/**
 * The one clock of everything of ours that compares times: the server's, cut to milliseconds (a JS Date holds no more, and hashes cover
 * it), plus an offset that tests move. A table and not a setting: anybody could set a setting. SECURITY DEFINER, so that nobody needs
 * a right on the table.
 */
export function clockSql(schema: string): string[] {
  return [
    `CREATE TABLE ${schema}.turnlock_clock (
  clock_id smallint PRIMARY KEY DEFAULT 1,
  offset_ms bigint NOT NULL DEFAULT 0,
  CONSTRAINT check_clock_single CHECK (clock_id = 1)
)`,
    `INSERT INTO ${schema}.turnlock_clock (clock_id, offset_ms) VALUES (1, 0)`,
    `CREATE FUNCTION ${schema}.turnlock_now() RETURNS timestamptz
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT date_trunc('milliseconds', clock_timestamp())
    + COALESCE((SELECT offset_ms FROM ${schema}.turnlock_clock), 0) * interval '1 millisecond'
$$`,
  ];
}
