import {
  aboutOf,
  type Facts,
  type FactsReport,
  type ReportSets,
  type ReportSubject,
} from "../../../core/observation/facts.ts"
import type { Db, Tx } from "../../../database/types.ts"

/**
 * The subjects to derive facts for. Each is one day of a subject of an account; for reports that apply until replaced,
 * only the latest report counts.
 */
export interface Subjects {
  accounts: string[]
  abouts: string[]
  days: string[]
}

/** Returns each subject once, in a fixed order. */
export function subjectsOf(seen: readonly ReportSubject[]): Subjects {
  const keys = new Set(seen.map((item) => JSON.stringify([item.account, aboutOf(item), item.day])))
  const parts = [...keys].sort().map((key) => JSON.parse(key) as [string, string, string])
  return {
    accounts: parts.map(([account]) => account),
    abouts: parts.map(([, about]) => about),
    days: parts.map(([, , day]) => day),
  }
}

/**
 * Replaces the facts as a whole, so that facts of rows that are no longer in a report are deleted too. The facts of
 * reports in pieces exist already and are only put in use.
 */
export async function replaceFacts(
  tx: Tx,
  report: FactsReport,
  facts: Facts,
  seen: readonly ReportSubject[],
  staged: Pick<ReportSets, "values">,
): Promise<void> {
  if (seen.length === 0) return
  const subjects = subjectsOf(seen)
  const sets = [...staged.values()]
  const newest = newestReports(tx, report, facts, subjects)
  const day = facts.daily ? tx`day` : tx`'-infinity'::date`
  await tx`
    delete from fact_set f
    using (${newest}) n
    where n.pieces is null
      and (f.account_id, f.report, f.about, f.day) = (n.account_id, ${report}, n.about,
        ${facts.daily ? tx`n.day` : day})`
  await tx`
    insert into fact_set (account_id, report, about, day, set_id)
    select n.account_id, ${report}, n.about, ${day}, s.facts
    from (${newest}) n
    join unnest(${sets.map(({ rows }) => rows)}::bigint[], ${sets.map((item) => item.facts)}::bigint[]) s (rows, facts)
      on s.rows = n.pieces
    order by n.account_id, n.about, n.day
    on conflict (account_id, report, about, day) do update
    set set_id = excluded.set_id`
  await tx`
    delete from ${tx(facts.table)}
    where ${factsAbout(tx, report, facts, subjects)} and set_id = 0`
  await facts.insert(tx, {
    from: tx`
      select n.account_id, n.about, n.day, r.row, r.place
      from (${newest}) n
      cross join lateral jsonb_array_elements(n.rows) with ordinality r (row, place)`,
    set: 0,
    before: 0,
  })
}

/** SQL: the condition for the facts of these subjects, in any set. */
export function factsAbout(db: Db, report: FactsReport, facts: Facts, { accounts, abouts, days }: Subjects) {
  const about = facts.about === null ? db`''::text` : db`${db(facts.about)}`
  const isOfReport = facts.shared ? db`report = ${report} and` : db``
  return facts.daily
    ? db`${isOfReport} (account_id, ${about}, day) in (
        select * from unnest(${accounts}::text[], ${abouts}::text[], ${days}::date[])
      )`
    : db`${isOfReport} (account_id, ${about}) in (select * from unnest(${accounts}::text[], ${abouts}::text[]))`
}

/** SQL: the latest report of each subject: account_id, about, day, rows, pieces. */
export function newestReports(db: Db, report: FactsReport, facts: Facts, { accounts, abouts, days }: Subjects) {
  const about = { report_day: db`about`, analytics_day: db`app`, ads_report: db`about` }[facts.reportTable]
  const last = facts.reportTable === "analytics_day" ? db`processed desc` : db`seen_at desc, parser desc, sha256 desc`
  return facts.daily
    ? db`
      select distinct on (account_id, ${about}, day) account_id, ${about} as about, day, rows, pieces
      from ${db(facts.reportTable)}
      where report = ${report} and (account_id, ${about}, day) in (
        select * from unnest(${accounts}::text[], ${abouts}::text[], ${days}::date[])
      )
      order by account_id, ${about}, day, ${last}`
    : db`
      select distinct on (account_id, ${about}) account_id, ${about} as about, day, rows, pieces
      from ${db(facts.reportTable)}
      where report = ${report} and (account_id, ${about}) in (select *
      from unnest(${accounts}::text[], ${abouts}::text[]))
      order by account_id, ${about}, day desc, ${last}`
}
