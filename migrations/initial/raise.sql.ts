/** A refusal of a trigger: SQLSTATE of our class, and a name in CONSTRAINT by which errors are told apart. */
export interface Refusal {
  readonly code: `TL${number}`;
  readonly name: string;
}

/** The RAISE of a trigger function. Each `%` in `message` takes one of `values`, which are SQL. */
export function raise({ code, name }: Refusal, message: string, ...values: string[]): string {
  const texts = values.length > 0 ? `, ${values.join(', ')}` : '';
  return `RAISE EXCEPTION '${message}'${texts} USING ERRCODE = '${code}', CONSTRAINT = '${name}', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA;`;
}

/** The same in a function that people call. */
export function raiseFromCall({ code, name }: Refusal, message: string, ...values: string[]): string {
  const texts = values.length > 0 ? `, ${values.join(', ')}` : '';
  return `RAISE EXCEPTION '${message}'${texts} USING ERRCODE = '${code}', CONSTRAINT = '${name}';`;
}

/** A trigger function. It runs as the schema's owner with a fixed path: as invoker, an emptied tenant setting would blind it. */
export function triggerFunction(schema: string, name: string, body: string, declare = ''): string {
  return `CREATE FUNCTION ${schema}.${name}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, ${schema}, pg_temp AS $$
${declare === '' ? '' : `DECLARE\n${declare}\n`}BEGIN
${body}
END
$$`;
}
