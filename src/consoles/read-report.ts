import { hash } from "node:crypto"
import { PutAside } from "../measuring/parsing/put-aside.ts"
import { rawBody } from "../measuring/source.ts"
import type { AccountTurn } from "./account-kind.ts"
import { lateAgainAt, noteReportAllowed, readAgainAt } from "./report-days.ts"
import type { ReportRequests } from "./report-versions.ts"
import { type ReportReading, reportIn } from "./sources/reports.ts"
import { changedReports } from "./store/reports.ts"
import { endTask, type ReportTask } from "./tasks.ts"

export interface ReportParts
  extends Pick<AccountTurn, "sql" | "record" | "account" | "now" | "keep" | "fence" | "signal"> {
  requests: ReportRequests
}

/**
 * Requests a day's report. Stores the report, or the fact that it is late, in the same transaction as the end of the
 * task.
 */
export async function readReport(parts: ReportParts, task: ReportTask): Promise<void> {
  const { sql, account, now, keep, signal, requests } = parts
  const answer = await requests.ask(task, signal)
  const { bytes } = answer
  const body = rawBody({ bytes, sha256: hash("sha256", bytes, "buffer"), url: "", seenAt: now() })
  const aside = new PutAside()
  let seen: ReportReading | "late"
  try {
    seen = await reportIn(answer, { account: account.id, report: task.task, day: task.subject }, body, aside)
  } catch (error) {
    await keep(body)
    throw error
  }
  if (seen === "late") {
    await endTask(sql, account.id, task, { state: "late", nextAt: lateAgainAt(task.subject, now()) })
    return await noteReportAllowed(sql, account.id, task.task)
  }
  await keep(body)
  await storeReport(parts, task, { seen, putAside: aside.text() })
}

async function storeReport(
  { sql, record, account, now, fence }: ReportParts,
  task: ReportTask,
  { seen, putAside }: { seen: ReportReading; putAside: string | null },
): Promise<void> {
  const state = seen.rows.length > 0 ? "read" : "empty"
  await record(sql, await changedReports(sql, [seen]), now, {
    all: true,
    async finish(tx) {
      await fence(tx)
      await endTask(tx, account.id, task, { state, nextAt: readAgainAt(task.subject, now()), putAside })
      await noteReportAllowed(tx, account.id, task.task)
    },
  })
}
