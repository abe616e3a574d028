import type { Side } from "../../core/observation/provenance.ts"
import type { ListKey } from "../../core/observation/subjects.ts"
import type { FollowUp } from "../../core/recording.ts"
import { json } from "../../database/json.ts"
import type { Sql, Tx } from "../../database/types.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { holdIdentities, listIds, lockLists } from "../../measuring/record/identities.ts"
import { retryDeadlocks } from "../../measuring/record/record.ts"
import { isSuggested, ladder } from "../formulas/hint-ladder.ts"
import { markFigures, oldestDay } from "./figures-due.ts"
import { SHOWN_DAYS } from "./keyword-figures.ts"
import { latestTenBetween, YOUNG_DAYS } from "./keyword-inputs.ts"
import { deriveKeywordMetrics } from "./keyword-metrics.ts"

/**
 * Keywords whose figures are derived in one transaction, each as of up to three days. It takes the embedded database
 * some 15 ms.
 */
const TERMS_AT_ONCE = 10
/** Marks of apps and prefixes that are resolved in one transaction. */
const MARKS_AT_ONCE = 100

interface FigureOptions {
  now: () => Date
  /** Awaited between two transactions, so that other callers can use the only backend of the embedded database. */
  pause: () => Promise<void>
}

/**
 * Recalculates figures of keywords whose readings were imported. The kinds of `due` recalculate them for other
 * readings.
 */
export const importedFigures: FollowUp = {
  importsOnly: true,
  follow: markFigures,
  afterImport: deriveFigures,
}

/**
 * Derives the figures that depend on imported readings (markFigures), as if the figures of each day had been calculated
 * on that day. The result depends only on the stored readings, not on the order or the number of processes. Includes
 * marks left by an interrupted import.
 */
export async function deriveFigures(sql: Sql, { now, pause }: FigureOptions): Promise<void> {
  for (const step of [markTerms, deriveMarked])
    while (await retryDeadlocks(() => sql.begin((tx) => step(tx, now())))) await pause()
}

interface Mark extends Side {
  kind: "app" | "hint" | "name"
  subject: string
}

/** Replaces marks of apps and prefixes by marks of the keywords that use them. Returns false if there were none. */
async function markTerms(tx: Tx, now: Date): Promise<boolean> {
  const marks = await tx<Mark[]>`
    with picked as materialized (
      select kind, platform, storefront, subject
      from figure_due
      where kind in ('app', 'hint', 'name')
      order by kind, platform, storefront, subject
      limit ${MARKS_AT_ONCE}
      for update skip locked
    )
    delete from figure_due d
    using picked p
    where (d.kind, d.platform, d.storefront, d.subject) = (p.kind, p.platform, p.storefront, p.subject)
    returning d.kind, d.platform, d.storefront, d.subject`
  await markTermsOfApps(
    tx,
    marks.filter(({ kind }) => kind !== "hint"),
    now,
  )
  await markTermsOfPrefixes(
    tx,
    marks.filter(({ kind }) => kind === "hint"),
    now,
  )
  return marks.length > 0
}

/**
 * Marks keywords whose first ten include an app. A changed name also counts in storefronts that have no name of their
 * own. The index covers the latest results; if figures use other results, the stored readings are searched.
 */
async function markTermsOfApps(tx: Tx, marks: readonly Mark[], now: Date): Promise<void> {
  if (marks.length === 0) return
  const apps = marks.map(({ kind, storefront, subject }) => ({
    app: Number(subject),
    storefront,
    named: kind === "name",
  }))
  const [to, from] = [dayOf(now), addDays(dayOf(now), -SHOWN_DAYS)]
  await tx`
    with changed as materialized (
      select *
      from jsonb_to_recordset(${json(tx, apps)}) c (app int, storefront text, named boolean)
    )
    insert into figure_due (kind, platform, storefront, subject)
    select distinct 'term', t.platform, t.storefront, t.term
    from (
      select platform, storefront, term, app_ids[1:10]
      from list_now
      where app_ids[1:10] && ${apps.map(({ app }) => app)}::int[]
      union all
      select l.platform, l.storefront, l.term, r.app_ids
      from (
        select list_id as id, platform, storefront, term
        from list_now
        where depth < 10 and cardinality(app_ids) >= depth
      ) l
      cross join lateral (${latestTenBetween(tx, { from, to })}) r
    ) t (platform, storefront, term, first_ten)
    cross join lateral unnest(t.first_ten) p (app)
    join changed c on c.app = p.app and (
      c.storefront = t.storefront
      or c.named and not exists (
        select
        from store_app_name s
        where (s.app_id, s.storefront) = (c.app, t.storefront) and s.name is not null
      )
    )
    order by 2, 3, 4
    on conflict do nothing`
}

/**
 * Marks keywords whose ladder includes a prefix. Unless the prefix is the whole keyword, it counts only if the store
 * suggests the fully typed keyword (see ladderNext).
 */
async function markTermsOfPrefixes(tx: Tx, marks: readonly Mark[], now: Date): Promise<void> {
  if (marks.length === 0) return
  const begun = await tx<(ListKey & { prefix: string; suggested: string[] | null })[]>`
    select k.platform, k.storefront, k.subject as prefix, t.term, h.terms as suggested
    from jsonb_to_recordset(${json(tx, marks)}) k (platform text, storefront text, subject text)
    cross join lateral (
      select term
      from list
      where platform = k.platform and storefront = k.storefront
        and last_day >= ${addDays(dayOf(now), -SHOWN_DAYS)}::date
        and term ~>=~ k.subject and term ~<~ (k.subject || ${LAST_CHARACTER})
      union
      select term
      from tracked_term
      where country = k.storefront and term ~>=~ k.subject and term ~<~ (k.subject || ${LAST_CHARACTER})
    ) t
    left join hint_answer h
      on (h.platform, h.storefront, h.prefix) = (k.platform, k.storefront, t.term) and h.day >= ${oldestDay(now)}::date
    where t.term = k.subject or h.prefix is not null`
  const rested = begun.filter(({ term, prefix, suggested }) => {
    return term === prefix || (ladder(term).includes(prefix) && isSuggested(term, suggested ?? []))
  })
  if (rested.length === 0) return
  await tx`
    insert into figure_due (kind, platform, storefront, subject)
    select distinct 'term', platform, storefront, term
    from jsonb_to_recordset(${json(tx, rested)}) t (platform text, storefront text, term text)
    order by 2, 3, 4
    on conflict do nothing`
}

/** For the operators ~>=~ and ~<~, which compare bytes: sorts after every text that continues the prefix. */
const LAST_CHARACTER = "\u{10FFFF}"

/** Derives the figures of some marked keywords. Returns false if none is marked. */
async function deriveMarked(tx: Tx, now: Date): Promise<boolean> {
  const marked = await tx<ListKey[]>`
    select platform, storefront, subject as term
    from figure_due
    where kind = 'term'
    order by platform, storefront, subject
    limit ${TERMS_AT_ONCE}`
  if (marked.length === 0) return false
  await holdIdentities(tx)
  await lockLists(tx, await listIds(tx, marked))
  // Takes the marks before reading: a mark that another process sets from now on waits and is kept.
  const taken = await tx<ListKey[]>`
    with picked as materialized (
      select d.kind, d.platform, d.storefront, d.subject
      from figure_due d
      join jsonb_to_recordset(${json(tx, marked)}) m (platform text, storefront text, term text)
        on (d.kind, d.platform, d.storefront, d.subject) = ('term', m.platform, m.storefront, m.term)
      order by d.platform, d.storefront, d.subject
      for update of d
    )
    delete from figure_due d
    using picked p
    where (d.kind, d.platform, d.storefront, d.subject) = (p.kind, p.platform, p.storefront, p.subject)
    returning d.platform, d.storefront, d.subject as term`
  for (const lists of Map.groupBy(taken, ({ platform, storefront }) => `${platform} ${storefront}`).values()) {
    const [{ platform, storefront }] = lists as [ListKey]
    const terms = lists.map(({ term }) => term)
    for (const [day, named] of await readDays(tx, { platform, storefront }, terms, dayOf(now)))
      await deriveKeywordMetrics(
        tx,
        named.map((term) => ({ platform, storefront, term })),
        endOf(day),
      )
  }
  return true
}

/**
 * Returns the last moment of the day, also for today, so that the age of an update does not depend on the time of the
 * calculation.
 */
function endOf(day: string): Date {
  return new Date(`${day}T23:59:59.999Z`)
}

/** Returns the terms to derive as of each day, the earliest day first. */
async function readDays(
  sql: Tx,
  side: Side,
  terms: readonly string[],
  today: string,
): Promise<[day: string, terms: string[]][]> {
  if (terms.length === 0) return []
  const found = [...(await readSearchDays(sql, side, terms, today)), ...(await readHintDays(sql, side, terms, today))]
  const days = Map.groupBy(found, ({ day }) => day)
  return [...days]
    .map(([day, rows]): [string, string[]] => [day, [...new Set(rows.map(({ term }) => term))].sort()])
    .sort(([one], [other]) => (one < other ? -1 : 1))
}

interface TermDay {
  term: string
  day: string
}

/**
 * Returns two days for each term: the day of its latest results, and the last day within YOUNG_DAYS of it on which the
 * ratings of one of their apps were read. A figure may combine both.
 */
async function readSearchDays(
  sql: Tx,
  { platform, storefront }: Side,
  terms: readonly string[],
  today: string,
): Promise<TermDay[]> {
  return await sql<TermDay[]>`
    select distinct l.term, d.day
    from list l
    cross join lateral (${latestTenBetween(sql, { from: addDays(today, -SHOWN_DAYS), to: today })}) r
    cross join lateral (
      select r.day
      union all
      select max(c.day)
      from rating_day c
      where c.app_id = any(r.app_ids) and c.storefront = l.storefront
        and c.quarter between date_trunc('quarter', (r.day - ${YOUNG_DAYS}::int)::timestamp)::date
          and date_trunc('quarter', (r.day + ${YOUNG_DAYS}::int)::timestamp)::date
        and c.until >= r.day - ${YOUNG_DAYS}::int
        and c.day between r.day - ${YOUNG_DAYS}::int and least(r.day + ${YOUNG_DAYS}::int, ${today}::date)
        and c.ratings is not null
    ) d
    where l.platform = ${platform} and l.storefront = ${storefront} and l.term = any(${terms as string[]}::text[])
      and d.day is not null
    order by d.day, l.term
    limit ${2 * TERMS_AT_ONCE}`
}

async function readHintDays(
  sql: Tx,
  { platform, storefront }: Side,
  terms: readonly string[],
  today: string,
): Promise<TermDay[]> {
  const rungs = terms.flatMap((term) => ladder(term).map((prefix) => ({ term, prefix })))
  return await sql<TermDay[]>`
    select k.term, max(h.day) as day
    from unnest(
      ${rungs.map(({ term }) => term)}::text[],
      ${rungs.map(({ prefix }) => prefix)}::text[]
    ) k (term, prefix)
    join hint_answer h on (h.platform, h.storefront, h.prefix) = (${platform}, ${storefront}, k.prefix)
    where h.day between ${addDays(today, -SHOWN_DAYS)} and ${today}
    group by k.term
    order by k.term
    limit ${TERMS_AT_ONCE}`
}
