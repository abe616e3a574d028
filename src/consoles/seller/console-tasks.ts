import type { Sql } from "../../database/types.ts"
import { REPORTS } from "../../lib/upstreams.ts"
import { SALES_ROLES } from "../look.ts"
import { type ReportParts, readReport } from "../read-report.ts"
import { putOffReport, reportDays } from "../report-days.ts"
import { type AccountTask, makeTasks, type ReportTask } from "../tasks.ts"
import type { ConsoleParts } from "./console-parts.ts"
import { readAnalytics, readInstance } from "./read-analytics.ts"
import { readPrices, readProducts } from "./read-prices.ts"

/**
 * Adds tasks for each day of the reports, and for the apps that the workspace tracks. A seller may have many other
 * apps.
 */
export async function makeConsoleTasks(sql: Sql, account: string, now: Date): Promise<void> {
  await makeTasks(
    sql,
    account,
    sql`
      ${reportDays(sql, now)}
      union all
      select t.task, a.outside_id, null
      from account_app a
      cross join (values ('analytics'), ('products')) t (task)
      where a.account_id = ${account} and a.app_id is not null`,
  )
}

/** Requests the data from the console and stores it in the same transaction as the end of the task. */
export async function readConsoleTask(parts: ConsoleParts & ReportParts, task: AccountTask): Promise<void> {
  if (isOfReport(task)) return await readReport(parts, task)
  if (task.task === "analytics") return await readAnalytics(parts, task)
  if (task.task === "products") return await readProducts(parts, task)
  if (task.task === "prices") return await readPrices(parts, task)
  await readInstance(parts, task)
}

/** Postpones the other days of a denied report as well. */
export async function putOffDenied({ sql, account }: ConsoleParts, task: AccountTask, failure: string): Promise<void> {
  if (isOfReport(task)) await putOffReport(sql, account.id, task.task, { failure, why: `needs ${SALES_ROLES}` })
}

function isOfReport(task: AccountTask): task is ReportTask {
  return (REPORTS as readonly string[]).includes(task.task)
}
