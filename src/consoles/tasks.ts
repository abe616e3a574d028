import type { Fragment } from "postgres"
import type { Db, Sql } from "../database/types.ts"
import type { AnalyticsReport, PlayReport, Report } from "../lib/upstreams.ts"
import { growingGap } from "./failed-question.ts"
import { pacificDay } from "./pacific.ts"

export const ADS_TASKS = ["campaigns", "changes", "keywords", "days", "terms", "popularity"] as const
export type AdsTask = (typeof ADS_TASKS)[number]

/**
 * The tasks that are not reports: `analytics` checks whether an app's analytics reports
 * are made and which files are new; `products` reads what an app sells; `prices` reads the prices of one product.
 */
export type ConsoleTask = Report | AnalyticsReport | "analytics" | "products" | "prices"

/**
 * `play_files` lists files of Google Play Console, `reviews` reads an app's reviews of the last week, and each of the
 * others reads a monthly file.
 */
export type PlayTask = "play_files" | "reviews" | PlayReport

type AnyTask = ConsoleTask | AdsTask | PlayTask

interface TaskRule {
  /** Tasks with the lowest place are read first. */
  place: number
  /** This many of the report's newest days are read before all other tasks. */
  newestDays?: number
  /** The task is skipped while the account lacks this right. */
  right?: string
}

/** Owners need the newest days first and redemptions last. */
const DAILY: TaskRule = { place: 3, newestDays: 7 }

/** The files of this month and the last come first, then the newest of the others. */
const STATISTICS: TaskRule = { place: 3, newestDays: 62, right: "statistics" }
const FINANCIAL: TaskRule = { ...STATISTICS, right: "financial" }

const RULES: Record<AnyTask, TaskRule> = {
  analytics: { place: 1 },
  prices: { place: 1 },
  products: { place: 1 },
  engagement: { place: 2 },
  downloads: { place: 2 },
  sales: DAILY,
  subscription_events: DAILY,
  subscriptions: DAILY,
  offer_redemptions: DAILY,
  campaigns: { place: 1, right: "campaigns" },
  changes: { place: 2, right: "changes" },
  keywords: { place: 3, right: "campaigns" },
  days: { place: 4, right: "reports" },
  terms: { place: 5, right: "reports" },
  popularity: { place: 6, right: "popularity" },
  // Comes before the newest days, because this task finds their files.
  play_files: { place: -1 },
  // Comes before a backlog of files, because a review is listed only for a week.
  reviews: { place: -1, right: "reviews" },
  play_installs: STATISTICS,
  play_installs_country: STATISTICS,
  play_store_country: STATISTICS,
  play_store_sources: STATISTICS,
  play_ratings: STATISTICS,
  play_ratings_country: STATISTICS,
  play_crashes: STATISTICS,
  play_earnings: FINANCIAL,
  play_sales: FINANCIAL,
}

export interface AccountTask<Task extends AnyTask = AnyTask> {
  task: Task
  /**
   * The day of a report; otherwise the platform's id of an app, file, product or campaign, the name of a file, or a
   * country. Empty for the account itself.
   */
  subject: string
  /** True if a caller is waiting for the task. */
  isAsked: boolean
  wasRead: boolean
}

export type ReportTask = AccountTask<Report>

/**
 * `read`: with rows; `empty`: published without rows; `late`: not published yet, or not readable; `denied`: not allowed
 * for the key's role; `gone`: unknown to the platform; `not_requested`: no person has requested the report from the
 * console; `stopped`: the console stopped making it because it was not read.
 */
export type TaskState = "due" | "read" | "empty" | "late" | "denied" | "gone" | "not_requested" | "stopped"

interface TaskOutcome {
  state: TaskState
  /** Time of the next read. Null if there is none. Omitted: the task is retried an hour later, then at growing gaps. */
  nextAt?: Date | null
  /** Why the request failed. Null if it succeeded. */
  failure?: string | null
  /** Number of skipped rows, and the reasons. */
  putAside?: string | null
}

/**
 * Adds tasks that do not exist yet. `wanted` is a query of task, subject and day. With `isAgain`, existing tasks
 * without a next time become due.
 */
export async function makeTasks(sql: Db, account: string, wanted: Fragment, { isAgain = false } = {}): Promise<void> {
  const onConflict = isAgain ? sql`do update set next_at = now() where account_task.next_at is null` : sql`do nothing`
  await sql`
    insert into account_task (account_id, task, subject, day)
    select ${account}, w.task, w.subject, w.day
    from (${wanted}) w (task, subject, day)
    order by 2, 3
    on conflict (account_id, task, subject) ${onConflict}`
}

/** SQL: the tasks `t` that their account's rights allow, with their rules `r`. */
function allowedTasks(sql: Db): Fragment {
  const rules = Object.entries(RULES)
  return sql`
    account_task t
    join unnest(
      ${rules.map(([task]) => task)}::text[], ${rules.map(([, { place }]) => place)}::int[],
      ${rules.map(([, { newestDays }]) => newestDays ?? null)}::int[],
      ${rules.map(([, { right }]) => right ?? null)}::text[]
    ) with ordinality r (task, place, newest_days, needs, nth) on r.task = t.task and not exists (
      select
      from account_right a
      where a.account_id = t.account_id and a.name = r.needs and a.state = 'denied'
    )`
}

/**
 * Returns the next task: first tasks that a caller waits for, then the newest days of reports, then the others in the
 * order of the rules. Null if nothing is due.
 */
export async function readNextTask(sql: Sql, account: string, now: Date): Promise<AccountTask | null> {
  const [task] = await sql<AccountTask[]>`
    select t.task, t.subject, t.asked_at is not null as "isAsked", t.read_at is not null as "wasRead"
    from ${allowedTasks(sql)}
    where t.account_id = ${account} and t.next_at <= now()
    order by t.asked_at nulls last, case when t.day >= ${pacificDay(now)}::date - r.newest_days then 0 else r.place end,
      t.day desc nulls last, t.next_at, r.nth, t.subject
    limit 1`
  return task ?? null
}

/** SQL: the time when the next task of the account `c` is due. */
export function nextTaskAt(sql: Db): Fragment {
  return sql`(
    select min(t.next_at)
    from ${allowedTasks(sql)}
    where t.account_id = c.id
  )`
}

/** Stores the outcome of a task. A late or failed outcome does not undo an earlier successful one. */
export async function endTask(
  sql: Db,
  account: string,
  { task, subject }: Pick<AccountTask, "task" | "subject">,
  { state, nextAt, failure = null, putAside = null }: TaskOutcome,
): Promise<void> {
  const isRead = state === "read" || state === "empty"
  const keepsRead = state === "late" || failure !== null
  await sql`
    update account_task
    set state = case when ${keepsRead} and state in ('read', 'empty') then state else ${state} end,
      read_at = case when ${isRead} then now() else read_at end,
      tries = case when ${failure === null} then 0 else tries + 1 end, failure = ${failure},
      put_aside = case when ${keepsRead} then put_aside else ${putAside} end, asked_at = null,
      next_at = ${nextAt === undefined ? growingGap(sql) : sql`${nextAt}::timestamptz`}
    where account_id = ${account} and task = ${task} and subject = ${subject}`
}

/** Puts a task before all others, and adds it if it does not exist. Makes the account due immediately. */
export async function askTask(sql: Sql, account: string, task: ConsoleTask, subject: string): Promise<void> {
  await sql`
    with asked as (
      insert into account_task as t (account_id, task, subject, asked_at, next_at)
      values (${account}, ${task}, ${subject}, clock_timestamp(), now())
      on conflict (account_id, task, subject) do update
      set asked_at = coalesce(t.asked_at, clock_timestamp()), next_at = now()
    )
    update connected_account
    set next_at = now()
    where id = ${account} and next_at is not null and next_at > now()`
}

/**
 * Makes failed and denied tasks due again, because the key or its role may have changed. Covers every task if `task` is
 * null.
 */
export async function makeFailedDue(sql: Db, account: string, task: ConsoleTask | null = null): Promise<void> {
  await sql`
    update account_task
    set state = case when state = 'denied' then 'due' else state end, failure = null, next_at = now()
    where account_id = ${account} and (state = 'denied' or failure is not null)
      and (${task}::text is null or task = ${task})`
}

export interface TaskStanding {
  state: TaskState
  /** Time of the last successful read. Null if never read. */
  readAt: Date | null
  /** True if a caller is still waiting for the task. */
  isAsked: boolean
  /** Why the data was not read, or which rows were skipped. Null if neither applies. */
  failure: string | null
  /** False if the data was read and only some rows were skipped. */
  isFailed: boolean
}

/** Returns the status of a task. Null if there is no such task. */
export async function readTask(sql: Db, account: string, task: AnyTask, subject: string): Promise<TaskStanding | null> {
  const [standing] = await sql<TaskStanding[]>`
    select state, read_at as "readAt", asked_at is not null as "isAsked", coalesce(failure, put_aside) as failure,
      failure is not null as "isFailed"
    from account_task
    where account_id = ${account} and task = ${task} and subject = ${subject}`
  return standing ?? null
}
