import { quoteName } from './embeddings-sql.ts';

/** Which halves a search has. */
export interface RecallShape {
  byText: boolean;
  /** The schema of the extension; `null`: no vectors are looked at. */
  vectorSchema: string | null;
  filtersKinds: boolean;
  filtersSession: boolean;
  filtersNewer: boolean;
  filtersOlder: boolean;
  includesSuperseded: boolean;
}

/** Vectors up to which an owner's are compared one by one; from there on the index is asked first. */
export const EXACT_VECTORS = 5_000;

/** Of reciprocal rank fusion. Source: Cormack, Clarke and Büttcher, SIGIR 2009. */
const RRF_K = 60;

/** Of BM25. Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009. */
const BM25_K1 = 1.2;
const BM25_B = 0.75;

/**
 * What `ts_rank` of one lexeme is divided by. Its rank is the sum of 1 / n² over the times that the lexeme stands there: that is how often, as BM25
 * takes it, at a fraction of the price of unfolding every row. Source: PostgreSQL, tsrank.c.
 */
const SQUARES = 1.64493406685;

/** The query as a lexeme of `tsquery`, whatever characters it has. */
const QUOTED = `'''' || replace(replace(lexeme, chr(92), chr(92) || chr(92)), '''', '''''') || ''''`;

/**
 * Language `simple` has no stop words, since it is none. So the query's own language is guessed: it is the one of the server whose list of stop
 * words has most of the query's, and at least two of them. Those of other rows are left out by their own language.
 */
const STOP_WORDS = `select array_agg(l.lexeme) as words from lexemes l cross join pg_catalog.pg_ts_dict d
      join pg_catalog.pg_ts_template k on k.oid = d.dicttemplate
    where l.language = 'simple' and d.dictnamespace = 'pg_catalog'::regnamespace and k.tmplname = 'snowball'
      and ts_lexize(d.oid::regdictionary, l.lexeme) = '{}'
    group by d.dictname having count(*) > 1 order by count(*) desc, d.dictname limit 1`;

/** Lexemes of one query that are looked for in each language, at most: the first ones. */
const MAX_LEXEMES = 64;

/*
 * One statement, so that both halves see the same moment, and nothing but what is found goes over the wire.
 *
 * Text: memories that have any of the query's lexemes, in the language of their row. `ts_rank` does not know how common a word is, so they are
 * ranked by BM25 over the owner's own memories. Unless nothing else is found, a word that stands in more than half of them finds nothing, and nor
 * does a stop word: with few memories, how often it stands in them does not tell. What ranks equal has the same rank, so that the other half decides.
 *
 * Vectors: an owner with few is searched exactly. One with many asks the index, which goes over the vectors of all tenants: it goes on until
 * enough of the owner's are found (iterative scan), and where it gives up before that, the owner's are compared one by one after all. So a small
 * tenant beside a large one gets full results. The branch that is not wanted is not run: its condition is known before.
 *
 * Rejected: one order by a weighted sum of both scores. They are of different kinds, and no weight fits two models.
 */
export function recallSql(shape: RecallShape): { text: string; names: readonly RecallParameter[] } {
  const parts = [`asked as materialized (select turnlock.turnlock_now() as moment)`];
  if (shape.byText) parts.push(...textParts(shape));
  if (shape.vectorSchema !== null) parts.push(...vectorParts(shape, shape.vectorSchema));
  parts.push(fusedPart(shape));
  return numbered(`with ${parts.join(',\n')}
select m.memory_id, m.kind, m.content, f.score, f.text_rank, f.vector_rank, f.similarity, m.session_id, t.turn_index, m.metadata,
    (extract(epoch from m.created_at) * 1000)::bigint::text as created_ms, (extract(epoch from m.expires_at) * 1000)::bigint::text as expires_ms,
    m.superseded_at is not null as is_superseded
  from fused f
  join turnlock.agent_memories m on m.tenant_id = :tenantId and m.user_id = :userId and m.memory_id = f.memory_id
  left join turnlock.agent_turns t on t.session_id = m.session_id and t.turn_id = m.turn_id
  order by f.score desc, m.created_at desc, m.memory_id
  limit :limit`);
}

/** What a statement is given, by name. */
export type RecallParameter =
  | 'tenantId'
  | 'userId'
  | 'query'
  | 'vector'
  | 'modelId'
  | 'dimensions'
  | 'kinds'
  | 'sessionId'
  | 'newerThan'
  | 'olderThan'
  | 'depth'
  | 'limit';

/** Places of `:name`, in order, as `?`. A `::` is a cast. */
function numbered(text: string): { text: string; names: readonly RecallParameter[] } {
  const names: RecallParameter[] = [];
  const placed = text.replaceAll(/(?<!:):([a-zA-Z]+)/g, (_, name: RecallParameter) => {
    names.push(name);
    return '?';
  });
  return { text: placed, names };
}

/** Memories that may be found, as conditions on `m`. */
export function countingSql(shape: Omit<RecallShape, 'byText' | 'vectorSchema'>): string {
  return [
    'm.tenant_id = :tenantId and m.user_id = :userId',
    'and (m.expires_at is null or m.expires_at > (select moment from asked))',
    ...(shape.includesSuperseded ? [] : ['and m.superseded_at is null']),
    ...(shape.filtersKinds ? ['and m.kind = any (array(select jsonb_array_elements_text(:kinds::jsonb)))'] : []),
    ...(shape.filtersSession ? ['and m.session_id = :sessionId::uuid'] : []),
    ...(shape.filtersNewer ? ['and m.created_at > :newerThan::timestamptz'] : []),
    ...(shape.filtersOlder ? ['and m.created_at < :olderThan::timestamptz'] : []),
  ].join(' ');
}

function textParts(shape: RecallShape): string[] {
  const counting = countingSql(shape);
  return [
    `counted as materialized (select m.language, count(*) as memories, sum(length(m.search)) as words
    from turnlock.agent_memories m where ${counting} group by m.language)`,
    `own as materialized (select sum(memories)::float8 as memories, greatest(sum(words) / sum(memories), 1)::float8 as words from counted)`,
    `languages as materialized (select l.language, c.oid::regconfig as configuration from counted l cross join lateral (
      select c.oid from pg_catalog.pg_ts_config c where c.cfgname = l.language
        and c.cfgnamespace in ('pg_catalog'::regnamespace, 'turnlock'::regnamespace) order by c.cfgnamespace limit 1) c)`,
    `lexemes as materialized (select l.language, u.lexeme, (${QUOTED})::tsquery as term from languages l cross join lateral (
      select lexeme from unnest(to_tsvector(l.configuration, :query)) order by positions[1], lexeme limit ${MAX_LEXEMES}) u)`,
    `stop_words as materialized (${STOP_WORDS})`,
    `queries as materialized (select language, string_agg(term::text, ' | ')::tsquery as query from lexemes group by language)`,
    `matching as materialized (select m.memory_id, m.created_at, m.language, m.search, length(m.search)::float8 as words
    from queries q join turnlock.agent_memories m on m.language = q.language and m.search @@ q.query
    where ${counting})`,
    `hits as materialized (select m.memory_id, l.lexeme, m.words, ts_rank('{1,1,1,1}', m.search, l.term) * ${SQUARES} as times,
      m.language = 'simple' and l.lexeme = any (select unnest(words) from stop_words) as is_stop
    from matching m join lexemes l on l.language = m.language and m.search @@ l.term)`,
    `weights as materialized (select h.lexeme, count(*)::float8 > o.memories / 2 or bool_and(h.is_stop) as is_common,
      ln(1 + (o.memories - count(*) + 0.5) / (count(*) + 0.5)) as weight
    from hits h cross join own o group by h.lexeme, o.memories)`,
    `scored as materialized (select h.memory_id, round(sum(w.weight * h.times * ${BM25_K1 + 1}
        / (h.times + ${BM25_K1} * (${1 - BM25_B} + ${BM25_B} * h.words / o.words)))::numeric, 9) as score
    from hits h join weights w on w.lexeme = h.lexeme cross join own o
    where not w.is_common or not exists (select from weights rare where not rare.is_common)
    group by h.memory_id)`,
    `by_text as materialized (select s.memory_id, rank() over (order by s.score desc) as rank
    from scored s join matching m on m.memory_id = s.memory_id
    order by rank, m.created_at desc, s.memory_id limit :depth)`,
  ];
}

function vectorParts(shape: RecallShape, schema: string): string[] {
  const of = quoteName(schema);
  const distance = `e.embedding operator(${of}.<=>) :vector::${of}.vector`;
  const own = `from turnlock.agent_memory_embeddings e
      join turnlock.agent_memories m on m.tenant_id = e.tenant_id and m.user_id = e.user_id and m.memory_id = e.memory_id
      where e.tenant_id = :tenantId and e.user_id = :userId and ${countingSql(shape)}`;
  // Vectors of another model cannot be compared: they may have been replaced since this process has started.
  const comparable = `(select s.model_id = :modelId and s.dimensions = :dimensions::int from turnlock.agent_memory_embedding_settings s)`;
  return [
    `vectors as materialized (select count(*) as held from (select 1 ${own} limit ${EXACT_VECTORS + 1}) few where ${comparable})`,
    `near as materialized (select e.memory_id, ${distance} as distance ${own}
      and (select held > ${EXACT_VECTORS} from vectors)
    order by ${distance} limit :depth)`,
    // Adding 0 keeps the index out: this one compares all of the owner's.
    `compared as materialized (select e.memory_id, ${distance} as distance ${own}
      and (select held > 0 and (select count(*) from near) < least(held, :depth::int) from vectors)
    order by (${distance}) + 0, e.memory_id limit :depth)`,
    `by_vector as materialized (select memory_id, 1 - distance as similarity,
      rank() over (order by distance) as rank
    from (select * from compared union all select * from near where not exists (select from compared)) found)`,
  ];
}

function fusedPart({ byText, vectorSchema }: RecallShape): string {
  if (vectorSchema === null) {
    return `fused as (select memory_id, 1.0::float8 / (${RRF_K} + rank) as score, rank::int as text_rank, null::int as vector_rank,
    null::float8 as similarity from by_text)`;
  }
  if (!byText) {
    return `fused as (select memory_id, 1.0::float8 / (${RRF_K} + rank) as score, null::int as text_rank, rank::int as vector_rank,
    similarity from by_vector)`;
  }
  return `fused as (select coalesce(t.memory_id, v.memory_id) as memory_id,
    (coalesce(1.0 / (${RRF_K} + t.rank), 0) + coalesce(1.0 / (${RRF_K} + v.rank), 0))::float8 as score,
    t.rank::int as text_rank, v.rank::int as vector_rank, v.similarity
  from by_text t full outer join by_vector v on v.memory_id = t.memory_id)`;
}
