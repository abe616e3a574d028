import { json } from "../database/json.ts"
import type { Db } from "../database/types.ts"
import type { Assistant } from "../lib/upstreams.ts"
import type { AssistantChecks } from "../lib/writing/assistant-checks.ts"
import { type AnswerUsage, ASSUMED_USAGE, centsOf } from "./cents.ts"
import { questionOf } from "./questions.ts"

/** One run of a question to one assistant. */
export interface PlannedTurn {
  storefront: string
  term: string
  language: string
  assistant: Assistant
  model: string
  phrasing: string
  run: number
}

/** Maximum number of keywords per storefront in a check. */
export const MAX_TERMS = 10
/** An answer younger than this is shared between checks instead of requested again. */
const SHARED_HOURS = 24

/** Returns the most popular tracked keywords of each storefront: by popularity, then in the app's order. */
export async function readWantedTerms(
  sql: Db,
  appId: string,
  storefronts: readonly string[],
): Promise<{ storefront: string; term: string }[]> {
  return await sql<{ storefront: string; term: string }[]>`
    select storefront, term
    from unnest(${storefronts as string[]}::text[]) with ordinality s (storefront, place)
    cross join lateral (
      select t.term, row_number() over (order by w.popularity desc nulls last, t.position, t.term) as nth
      from tracked_term t
      left join lateral (
        select max(coalesce(k.published, k.estimate)) as popularity
        from list l
        join keyword_now k on k.list_id = l.id
        where l.platform in ('ios', 'android') and l.storefront = t.country and l.term = t.term
      ) w on true
      where t.app_id = ${appId} and t.country = s.storefront
      order by nth
      limit ${MAX_TERMS}
    ) t
    order by t.nth, s.place`
}

/**
 * Plans the runs of the most popular keywords across storefronts, up to the configured number of answers, but at least
 * one keyword.
 */
export function planTurns(
  wanted: readonly { storefront: string; term: string }[],
  { engines, runs, mostAnswers }: AssistantChecks,
): PlannedTurn[] {
  const keywords = Math.max(1, Math.floor(mostAnswers / (engines.length * runs)))
  return wanted.slice(0, keywords).flatMap(({ storefront, term }) =>
    engines.flatMap(({ assistant, model }) =>
      Array.from({ length: runs }, (_, run) => {
        const { language, phrasing } = questionOf(term, storefront, run)
        return { storefront, term, language, assistant, model, phrasing, run }
      }),
    ),
  )
}

/**
 * Counts the planned runs that need no request: runs that are already due, and runs that were answered within a day.
 */
export async function countShared(sql: Db, turns: readonly PlannedTurn[]): Promise<Map<Assistant, number>> {
  const rows = await sql<{ assistant: Assistant; count: number }[]>`
    select r.assistant, count(*)::int as count
    from ${plannedRows(sql, turns)}
    where exists (select from assistant_turn t where ${isShared(sql)})
    group by r.assistant
    order by r.assistant
    limit 10`
  return new Map(rows.map(({ assistant, count }) => [assistant, count]))
}

/** Returns the planned turns as a row set `r`. */
export function plannedRows(sql: Db, turns: readonly PlannedTurn[]) {
  return sql`
    jsonb_to_recordset(${json(sql, turns)}) r (
      storefront text, term text, language text, assistant text, model text, phrasing text, run smallint
    )`
}

/** Returns the SQL condition that turn `t` matches row `r` and either is due or has a fresh answer. */
export function isShared(sql: Db) {
  return sql`
    (t.storefront, t.term, t.assistant, t.model, t.phrasing, t.run)
      = (r.storefront, r.term, r.assistant, r.model, r.phrasing, r.run)
    and (t.state = 'due' or t.state = 'answered' and t.answered_at > now() - ${SHARED_HOURS}::int * interval '1 hour')`
}

interface CheckCost {
  /** Cost in US cents of the answers that must be requested. Null if an assistant has no configured price. */
  cents: number | null
  /** "measured": based on earlier answers. "assumed": at least one assistant has no answers yet. */
  basis: "measured" | "assumed"
}

/** Estimates the cost of the planned turns that are not shared. */
export async function estimateCost(
  sql: Db,
  { turns, shared }: { turns: readonly PlannedTurn[]; shared: ReadonlyMap<Assistant, number> },
  { engines }: AssistantChecks,
): Promise<CheckCost> {
  const usage = await readUsage(sql, engines)
  let cents: number | null = 0
  let basis: CheckCost["basis"] = "measured"
  for (const { assistant, price } of engines) {
    const requests = turns.filter((turn) => turn.assistant === assistant).length - (shared.get(assistant) ?? 0)
    if (requests === 0) continue
    const measured = usage.get(assistant)
    if (!measured) basis = "assumed"
    cents = price === null || cents === null ? null : cents + requests * centsOf(measured ?? ASSUMED_USAGE, price)
  }
  return { cents: cents === null ? null : Math.round(10 * cents) / 10, basis }
}

/** Returns the average usage of the latest answers of each assistant. */
async function readUsage(sql: Db, engines: AssistantChecks["engines"]): Promise<Map<Assistant, AnswerUsage>> {
  const rows = await sql<(AnswerUsage & { assistant: Assistant })[]>`
    select e.assistant, avg(a.input_tokens)::float8 as "inputTokens", avg(a.output_tokens)::float8 as "outputTokens",
      coalesce(avg(a.searches), 0)::float8 as searches
    from unnest(
      ${engines.map(({ assistant }) => assistant)}::text[], ${engines.map(({ model }) => model)}::text[]
    ) e (assistant, model)
    cross join lateral (
      select t.storefront, t.term, t.assistant, t.model, t.phrasing, t.run, t.answered_at
      from assistant_turn t
      where t.state = 'answered' and t.assistant = e.assistant and t.model = e.model
      order by t.id desc
      limit 50
    ) t
    join assistant_answer a on (a.storefront, a.term, a.source, a.model, a.phrasing, a.run, a.seen_at)
      = (t.storefront, t.term, t.assistant, t.model, t.phrasing, t.run, t.answered_at)
    where a.input_tokens is not null and a.output_tokens is not null
    group by e.assistant
    order by e.assistant
    limit 10`
  return new Map(rows.map(({ assistant, ...usage }) => [assistant, usage]))
}
