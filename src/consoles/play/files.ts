import { json } from "../../database/json.ts"
import type { Sql } from "../../database/types.ts"
import { dayOf, monthsBefore } from "../../lib/days.ts"
import type { PlayReport } from "../../lib/upstreams.ts"
import { PLAY_REPORTS, playFileName } from "../sources/play/reports.ts"
import { makeTasks } from "../tasks.ts"
import type { BucketFile } from "./bucket.ts"

/** Number of months, this one included, whose files are read. Older files stay in the bucket. */
const MONTHS = 24
/** Number of months, this one included, whose files are expected: a file of these months that is not listed is late. */
const EXPECTED_MONTHS = 2

/**
 * Adds the tasks that list the files of the account's reports: one for each tracked app and folder with reports of one
 * app, and one for each folder with reports of all apps. The subject of a task is a pattern of file names. Deletes the
 * tasks of apps that are no longer tracked.
 */
export async function makeListTasks(sql: Sql, account: string): Promise<void> {
  const foldersOf = (isPerPackage: boolean) => {
    const found = PLAY_REPORTS.filter(({ perPackage }) => perPackage === isPerPackage).map(({ prefix }) => prefix)
    return [...new Set(found)]
  }
  const patterns = sql`
    select folder || '*_' || a.outside_id || '_*' as pattern
    from account_app a
    cross join unnest(${foldersOf(true)}::text[]) folder
    where a.account_id = ${account} and a.app_id is not null
    union
    select folder || '*'
    from unnest(${foldersOf(false)}::text[]) folder`
  await sql`
    delete from account_task
    where account_id = ${account} and task = 'play_files' and subject not in (${patterns})`
  await makeTasks(sql, account, sql`select 'play_files', pattern, null::date from (${patterns}) p`)
}

/** Returns the package that a pattern of names is about. Null if it is about all apps. */
function packageIn(pattern: string): string | null {
  return /\/\*_(.+)_\*$/.exec(pattern)?.[1] ?? null
}

interface FileTask {
  task: PlayReport
  subject: string
  /** The first day of the month. */
  day: string
  updated: string
}

/**
 * Returns a task for each listed file that should be read: a file of a known report about the pattern's package, from
 * the latest months.
 */
function tasksOf(files: readonly BucketFile[], pattern: string, now: Date): FileTask[] {
  const oldest = monthsBack(now, MONTHS).at(-1)!
  const app = packageIn(pattern)
  return files.flatMap(({ name, updated }) => {
    const named = playFileName(name)
    if (named === null || named.app !== app || named.month < oldest) return []
    return [{ task: named.family.report, subject: name, day: `${named.month}-01`, updated }]
  })
}

/** Margin for the time of a file: Google's clock may differ from ours, and a file may be replaced while it is read. */
const MARGIN = "10 minutes"

/**
 * Makes listed files due if they are new or were replaced since they were read. A file that could not be read waits for
 * its own retry unless it was replaced today. A file of this month or last month that is not listed counts as late, not
 * as empty.
 */
export async function storeListing(
  sql: Sql,
  account: string,
  { files, pattern, now }: { files: readonly BucketFile[]; pattern: string; now: Date },
): Promise<void> {
  const listed = tasksOf(files, pattern, now)
  await sql`
    insert into account_task (account_id, task, subject, day)
    select ${account}, f.task, f.subject, f.day
    from jsonb_to_recordset(${json(sql, listed)}) f (task text, subject text, day date)
    order by f.task, f.subject
    on conflict (account_id, task, subject) do nothing`
  await sql`
    update account_task t
    set next_at = now()
    from jsonb_to_recordset(${json(sql, listed)}) f (task text, subject text, updated timestamptz)
    where t.account_id = ${account} and t.task = f.task and t.subject = f.subject and case
        when t.failure is not null then f.updated > now() - interval '1 day'
        else t.read_at is null or f.updated > t.read_at - ${MARGIN}::interval
      end and coalesce(t.next_at > now(), true)`
  await sql`
    insert into account_task (account_id, task, subject, day, state, next_at)
    select ${account}, f.task, f.subject, f.day, 'late', null
    from jsonb_to_recordset(${json(sql, missingFiles(listed, now))}) f (task text, subject text, day date)
    order by f.task, f.subject
    on conflict (account_id, task, subject) do nothing`
}

/**
 * Returns the files of the latest months that are expected but not listed. A file is expected if its report has a file
 * of another month. Earnings are left out, because their file names contain a number that is not known in advance.
 */
function missingFiles(listed: readonly FileTask[], now: Date): Omit<FileTask, "updated">[] {
  const names = new Set(listed.map(({ subject }) => subject))
  const latest = new Map(listed.map((file) => [file.task, file]))
  return [...latest.values()].flatMap(({ task, subject, day }) =>
    monthsBack(now, EXPECTED_MONTHS)
      .map((month) => ({ task, subject: subject.replace(compact(day), compact(month)), day: `${month}-01` }))
      .filter((file) => task !== "play_earnings" && !names.has(file.subject)),
  )
}

/** Converts "2026-10" or "2026-10-01" to the form in file names: "202610". */
function compact(day: string): string {
  return `${day.slice(0, 4)}${day.slice(5, 7)}`
}

/** Returns this month and the ones before it, newest first, as "2026-10". */
function monthsBack(now: Date, count: number): string[] {
  return Array.from({ length: count }, (_, back) => monthsBefore(dayOf(now), back).slice(0, 7))
}
