import { hash } from "node:crypto"
import { PutAside } from "../measuring/parsing/put-aside.ts"
import { rawBody } from "../measuring/source.ts"
import type { AccountTurn } from "./account-kind.ts"
import { reportDigest } from "./kinds/reports-shape.ts"
import { lateAgainAt, noteReportAllowed, readAgainAt } from "./report-days.ts"
import type { ReportRequests } from "./report-versions.ts"
import { type ReportReading, reportIn } from "./sources/reports.ts"
import { endTask, type ReportTask } from "./tasks.ts"

export interface ReportParts
  extends Pick<AccountTurn, "sql" | "record" | "account" | "now" | "keep" | "fence" | "signal"> {
  requests: ReportRequests
}

/** Requests a day's report. Stores the report, or that it is late, in the same transaction as the end of the task. */
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

/** Does not store a report again if its rows are unchanged: `seen_at` is the time when they first appeared. */
async function storeReport(
  { sql, record, account, now, fence }: ReportParts,
  task: ReportTask,
  { seen, putAside }: { seen: ReportReading; putAside: string | null },
): Promise<void> {
  const state = seen.rows.length > 0 ? "read" : "empty"
  const [latest] = await sql<{ digest: Uint8Array }[]>`
    select digest
    from report_day
    where account_id = ${account.id} and report = ${task.task} and day = ${task.subject}
    order by seen_at desc, parser desc, sha256 desc
    limit 1`
  const isNew = !latest || !reportDigest(seen.rows).equals(latest.digest)
  await record(sql, isNew ? [seen] : [], now, {
    all: true,
    async finish(tx) {
      await fence(tx)
      await endTask(tx, account.id, task, { state, nextAt: readAgainAt(task.subject, now()), putAside })
      await noteReportAllowed(tx, account.id, task.task)
    },
  })
}
