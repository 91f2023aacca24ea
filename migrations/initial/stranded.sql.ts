/**
 * Why a build leaves a session alone, as an expression over `s`, a row of `agent_sessions`: `machine`, `agent` or `tool`, whichever is
 * newer than what the build knows; NULL for one that it can go on with, or whose agent it does not have under any version.
 *
 * `build` names an argument: `{"machines": {id: [versions]}, "agents": {name: {"version": n, "tools": {name: version}}}}`. A tool that the
 * build does not have at all is taken for one that was removed, not for a newer one: its calls go to a person.
 *
 * The open calls are read last, by the partial index of open executions, and only of a session that passed what its own row says.
 */
export function strandedSql(build: string): string {
  const agent = `${build} -> 'agents' -> s.agent_name`;
  return `CASE
      WHEN ${agent} IS NULL THEN NULL
      WHEN NOT COALESCE(${build} -> 'machines' -> s.machine_id @> to_jsonb(s.machine_version), false) THEN 'machine'
      WHEN s.agent_version > (${agent} ->> 'version')::int THEN 'agent'
      WHEN (SELECT bool_or(COALESCE(e.upgraded_version, e.tool_version) > (${agent} -> 'tools' ->> e.tool_name)::int) FROM agent_tool_executions e
        WHERE e.session_id = s.session_id AND e.status IN ('PENDING', 'RUNNING')) THEN 'tool'
    END`;
}

/** For lists: why a build leaves one session alone. As its caller, who sees the sessions of one tenant. */
export function strandedFunctionSql(schema: string): string {
  return `CREATE FUNCTION ${schema}.why_stranded(session_id uuid, build jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, ${schema}, pg_temp AS $$
  SELECT ${strandedSql('why_stranded.build')} FROM agent_sessions s WHERE s.session_id = why_stranded.session_id
$$`;
}
