import type { Db } from "../database/types.ts"
import { type AnalyticsReport, isPlayReport, type PlayReport, type Report } from "../lib/upstreams.ts"
import { PLAY_REPORTS } from "./sources/play/reports.ts"
import type { AnsweredState } from "./state.ts"
import type { AdsTask, ConsoleTask, TaskStanding } from "./tasks.ts"

/** Requests of an account that failed for the same reason, or whose responses had unreadable rows. */
export interface Trouble {
  /** Why the requests failed, or why the rows were skipped. */
  text: string
  /** False if the data was read and only some rows were skipped. */
  isFailed: boolean
  isDenied: boolean
  count: number
  /** The first and the last of the days, campaigns, products or countries concerned. */
  first: string
  last: string
}

const PLAY_TITLES = Object.fromEntries(PLAY_REPORTS.map(({ report, title }) => [report, title])) as Record<
  PlayReport,
  string
>

const REPORT_NAMES: Record<Report | AnalyticsReport | PlayReport, string> = {
  sales: "sales",
  subscriptions: "subscriptions",
  subscription_events: "subscription events",
  offer_redemptions: "offer code redemptions",
  engagement: "engagement files",
  downloads: "downloads files",
  ...PLAY_TITLES,
}

const CONSOLE_NAMES: Record<ConsoleTask, string> = {
  ...REPORT_NAMES,
  analytics: "analytics of app",
  products: "products of app",
  prices: "prices of",
}

const ADS_NAMES: Record<AdsTask, string> = {
  campaigns: "campaigns",
  changes: "change history",
  keywords: "keywords of campaign",
  days: "daily figures of campaign",
  terms: "search terms of campaign",
  popularity: "search popularity of",
}

const PLAY_NAMES = Object.fromEntries(PLAY_REPORTS.map(({ report, title }) => [report, `${title}, file`]))
const OTHER_PLAY_NAMES = { play_files: "list of files", reviews: "reviews of app" }

const NAMES: Record<string, string> = { ...CONSOLE_NAMES, ...ADS_NAMES, ...PLAY_NAMES, ...OTHER_PLAY_NAMES }

/** Returns a text such as "sales of 3 days from 2026-11-24 to 2026-11-26: the console answers 410". */
export function reportTroubleText(
  report: Report | AnalyticsReport | PlayReport,
  troubles: readonly Trouble[],
): string | null {
  return joined(troubles.map((trouble) => `${REPORT_NAMES[report]} of ${daysOf(trouble)}: ${trouble.text}`))
}

function daysOf({ count, first, last }: Trouble): string {
  return count === 1 ? last : `${count} days from ${first} to ${last}`
}

export interface AdsTrouble extends Trouble {
  task: AdsTask
}

/** Returns a text such as "search terms of campaign 444555666: Apple Ads refuses the request". */
export function adsTroubleText(troubles: readonly AdsTrouble[]): string | null {
  return joined(troubles.map((trouble) => `${ADS_NAMES[trouble.task]}${subjectsOf(trouble)}: ${trouble.text}`))
}

function subjectsOf({ count, last }: Trouble): string {
  if (last === "") return ""
  return count === 1 ? ` ${last}` : ` ${last} and ${count - 1} more`
}

function joined(texts: readonly string[]): string | null {
  return texts.length > 0 ? texts.join("; ").slice(0, MAX_TEXT) : null
}

const MAX_TEXT = 2_000

/** Returns the state, as shown in answers, of an account some of whose requests failed. */
export function troubledState(
  state: AnsweredState,
  troubles: readonly Trouble[],
  { isRead }: { isRead: boolean },
): AnsweredState {
  if (state !== "ok" && state !== "connecting") return state
  if (troubles.some(({ isDenied }) => isDenied)) return "limited"
  return !isRead && troubles.some(({ isFailed }) => isFailed) ? "unavailable" : state
}

/** SQL: one value, a list of Trouble. At most three, the latest first. */
export function reportTroubles(db: Db, account: string, report: Report, { from, to }: { from: string; to: string }) {
  return db`(
      select coalesce(json_agg(t.*), '[]')
      from (
        select coalesce(r.failed, r.put_aside) as text, r.failed is not null as "isFailed",
          bool_or(r.state = 'denied') as "isDenied", count(*)::int as count, min(r.day)::text as first,
          max(r.day)::text as last
        from (
          -- A day that was read once stays valid, even if a later read of it failed.
          select day, state, put_aside, case when state not in ('read', 'empty') then failure end as failed
          from account_task
          where account_id = ${account} and task = ${report} and subject between ${from} and ${to}
        ) r
        where r.failed is not null or r.put_aside is not null
        group by 1, 2
        order by max(r.day) desc, 1
        limit 3
      ) t
    )`
}

/** Returns the failures of an app's analytics files, and of the search for new files. */
export async function readFileTroubles(
  db: Db,
  account: string,
  app: string,
): Promise<(Trouble & { report: AnalyticsReport | null })[]> {
  return await db<(Trouble & { report: AnalyticsReport | null })[]>`
    select i.report, coalesce(t.failure, t.put_aside) as text, t.failure is not null as "isFailed", false as "isDenied",
      count(*)::int as count, coalesce(min(i.processed)::text, '') as first,
      coalesce(max(i.processed)::text, '') as last
    from account_task t
    left join analytics_instance i on i.account_id = t.account_id and i.report = t.task and i.instance = t.subject
    where t.account_id = ${account} and (t.failure is not null or t.put_aside is not null)
      and ((t.task = 'analytics' and t.subject = ${app}) or i.app = ${app})
    group by 1, 2, 3
    order by max(i.processed) desc nulls first, 1, 2
    limit 6`
}

/** SQL: one value, the AdsTrouble list of the app's campaigns (`a.outside_id`) in the account `c`. */
export function adsTroubles(db: Db) {
  return db`(
      select coalesce(json_agg(x.*), '[]')
      from (
        select t.task, coalesce(t.failure, t.put_aside) as text, t.failure is not null as "isFailed",
          false as "isDenied", count(*)::int as count, min(t.subject) as first, max(t.subject) as last
        from account_task t
        where t.account_id = c.id and (t.failure is not null or t.put_aside is not null) and (t.subject = '' or exists (
          select
          from ads_campaign k
          where k.account_id = t.account_id and k.campaign = t.subject and k.app = a.outside_id
        ))
        group by 1, 2, 3
        order by t.task, max(t.subject) desc, 2
        limit 30
      ) x
    )`
}

/** Returns the failure of one subject of a task, for example of one country's popularity. */
export function adsTroublesOf(task: AdsTask, subject: string, standing: TaskStanding | null): AdsTrouble[] {
  if (standing === null || standing.failure === null) return []
  const { failure: text, isFailed } = standing
  return [{ task, text, isFailed, isDenied: false, count: 1, first: subject, last: subject }]
}

/** A trouble of an account as the command line lists it. */
export interface ListedTrouble {
  what: string
  why: string
  isFailed: boolean
  /** Time of the next retry. Null if there is none. */
  nextAt: string | null
}

type ListedRow = Trouble & { task: string; nextAt: string | null }

/** SQL: one value, a list of rows with the failed requests and unreadable rows of an account `c`, grouped. */
export function listedTroubles(db: Db) {
  return db`(
      select coalesce(jsonb_agg(to_jsonb(x) order by x."isFailed" desc, x.task, x.last desc), '[]')
      from (
        select t.task, coalesce(t.failure, t.put_aside) as text, t.failure is not null as "isFailed",
          false as "isDenied",
          count(*)::int as count, min(s.name) as first, max(s.name) as last, min(t.next_at) as "nextAt"
        from account_task t
        left join lateral (
          select sku
          from account_product
          where account_id = t.account_id and product = t.subject and t.task = 'prices'
          order by app
          limit 1
        ) p on true
        cross join lateral (
          select coalesce(case when not starts_with(t.task, 'play_') then t.day::text end, p.sku, t.subject) as name
        ) s
        where t.account_id = c.id and (t.failure is not null or t.put_aside is not null)
        group by 1, 2, 3
        order by 3 desc, 1, max(s.name) desc, 2
        limit 50
      ) x
    )`
}

export function listedTrouble(row: ListedRow): ListedTrouble {
  const { task, text, isFailed, nextAt } = row
  const isOfDays = task in REPORT_NAMES && !isPlayReport(task)
  const subjects = isOfDays ? ` of ${daysOf(row)}` : subjectsOf(row)
  const what = `${NAMES[task] ?? task}${subjects}`
  return { what, why: text, isFailed, nextAt }
}
