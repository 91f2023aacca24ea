import type { EmbeddingSettings } from './embedding-settings.ts';

const TABLE = 'turnlock.agent_memory_embeddings';
const SETTINGS = 'turnlock.agent_memory_embedding_settings';
const OWN_TENANT = `tenant_id = nullif(current_setting('turnlock.tenant', true), '')`;

/** Makes the extension where the server has it and this role may. Where it may not, nothing happens: memory then searches by text. */
export const CREATE_EXTENSION = `do $$ begin
  if not exists (select from pg_extension where extname = 'vector')
     and exists (select from pg_available_extensions where name = 'vector') then
    create extension vector schema public;
  end if;
exception when insufficient_privilege or invalid_schema_name or undefined_file or feature_not_supported then null;
end $$`;

/**
 * Keeps everybody from memories and vectors, whose tables point at each other, until the transaction ends. Others lock them in any order, and for as
 * long as a transaction of a caller's is open. So it gives way: what it does not have at once it gives back, and asks for again a moment later.
 * Nobody waits for it longer than that, and it is never in a deadlock that would cost another one its transaction.
 */
export const LOCK_TABLES = `do $$ declare name text; begin
  loop
    begin
      perform set_config('lock_timeout', '100ms', true);
      foreach name in array '{agent_memories,agent_memory_embedding_settings,agent_memory_embeddings}'::text[] loop
        if to_regclass('turnlock.' || name) is not null then
          execute format('lock table turnlock.%I in access exclusive mode', name);
        end if;
      end loop;
      exit;
    exception when lock_not_available or deadlock_detected then
      perform pg_sleep(0.1 + random() * 0.2);
    end;
  end loop;
  perform set_config('lock_timeout', '0', true);
end $$`;

/** A name as SQL takes it, whatever it is. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** What the vectors are of: one row. No tenant's, so whoever may read memories may read it. */
export function settingsTableSql(): string[] {
  return [
    `create table if not exists ${SETTINGS} (
  settings_id smallint primary key default 1,
  model_id varchar(64) not null,
  dimensions int not null,
  created_at timestamptz not null default turnlock.turnlock_now(),
  constraint check_embedding_settings_single check (settings_id = 1)
)`,
    ...grantsLikeMemoriesSql(SETTINGS, 'SELECT'),
  ];
}

/**
 * The vectors, in a table of their own beside the memories, since their type is the extension's. A vector goes with its memory, and row-level
 * security is that of every table of tenants. The index is over all tenants: whoever has few is searched exactly.
 */
export function embeddingsTableSql({ dimensions }: EmbeddingSettings, extensionSchema: string): string[] {
  const of = quoteName(extensionSchema);
  return [
    `create table ${TABLE} (
  tenant_id varchar(64) not null,
  user_id varchar(64) not null,
  memory_id uuid not null,
  embedding ${of}.vector(${dimensions}) not null,
  created_at timestamptz not null default turnlock.turnlock_now(),
  constraint agent_memory_embeddings_pkey primary key (tenant_id, user_id, memory_id),
  constraint fk_embedding_memory foreign key (tenant_id, user_id, memory_id)
    references turnlock.agent_memories (tenant_id, user_id, memory_id) on delete cascade
)`,
    `create index idx_memory_embeddings_near on ${TABLE} using hnsw (embedding ${of}.vector_cosine_ops)`,
    `alter table ${TABLE} enable row level security`,
    `create policy own_tenant on ${TABLE} using (${OWN_TENANT}) with check (${OWN_TENANT})`,
    ...grantsLikeMemoriesSql(TABLE, 'SELECT, INSERT, UPDATE, DELETE'),
    // Whoever searches names the extension's type and operator. Who may not grant that is not its owner: then everybody may, as a rule.
    `do $$ declare grantee text; begin
  for grantee in ${granteesSql('SELECT')} loop
    begin execute format('grant usage on schema %I to %s', '${extensionSchema.replaceAll("'", "''")}', grantee);
    exception when insufficient_privilege then null; end;
  end loop;
end $$`,
  ];
}

/** Roles that have a right on memories, beside their owner. */
function granteesSql(right: 'SELECT' | 'INSERT'): string {
  return `select distinct a.grantee::regrole::text from pg_class c, aclexplode(c.relacl) a
    where c.oid = 'turnlock.agent_memories'::regclass and a.privilege_type = '${right}' and a.grantee not in (0, c.relowner)`;
}

/** Gives each role on `table` what it has on memories: to read, and to write where it may write those. */
function grantsLikeMemoriesSql(table: string, writing: string): string[] {
  return [
    `do $$ declare grantee text; begin
  for grantee in ${granteesSql('SELECT')} loop execute format('grant select on ${table} to %s', grantee); end loop;
  for grantee in ${granteesSql('INSERT')} loop execute format('grant ${writing} on ${table} to %s', grantee); end loop;
end $$`,
  ];
}

/** The same for roles that were granted memories after the tables were made; where they are not there it does nothing. */
export function grantEmbeddingsSql(): string[] {
  const guarded = (table: string, statements: readonly string[]) =>
    statements.map((statement) =>
      statement.replace('begin\n', `begin\n  if to_regclass('${table}') is null then return; end if;\n`),
    );
  return [
    ...guarded(SETTINGS, grantsLikeMemoriesSql(SETTINGS, 'SELECT')),
    ...guarded(TABLE, grantsLikeMemoriesSql(TABLE, 'SELECT, INSERT, UPDATE, DELETE')),
  ];
}
