import type { Sql } from "../database/types.ts"
import type { Report } from "../lib/upstreams.ts"
import { ReadFailure } from "../measuring/source.ts"
import { type Console, type ConsoleAnswer, ConsoleProblem, detailsIn } from "./console.ts"
import { saysNothingSold } from "./sources/reports.ts"
import { REPORT_VERSIONS, salesReportPath } from "./sources/request.ts"
import type { ReportTask } from "./tasks.ts"

/** Requests daily reports, each in the version that the console requires. Used for one session with a key. */
export interface ReportRequests {
  /** Requests a day's report. Throws ConsoleProblem, or ReadFailure when it is unclear whether the day is empty. */
  ask(task: ReportTask, signal: AbortSignal): Promise<ConsoleAnswer>
}

interface RequestParts {
  sql: Sql
  console: Pick<Console, "get">
  account: { id: string; part: string }
}

/**
 * The console rejects a report request without a version and names the latest version. For an outdated version it
 * responds as if there had been no sales. An empty day is therefore trusted only if the version is the latest, which is
 * checked once in each session.
 */
export function createReportRequests({ sql, console, account }: RequestParts): ReportRequests {
  let stored: Promise<Partial<Record<Report, string>>> | undefined
  const confirmed = new Set<Report>()
  const versionOf = async (report: Report): Promise<string | null> => {
    stored ??= readVersions(sql, account.id)
    const version = (await stored)[report] ?? REPORT_VERSIONS[report]
    return version === "" ? null : version
  }
  const learn = async (report: Report, version: string | null) => {
    const versions = await (stored ?? readVersions(sql, account.id))
    stored = Promise.resolve({ ...versions, [report]: version ?? "" })
    await storeVersion(sql, account.id, report, version ?? "")
  }
  const get = ({ task, subject }: ReportTask, version: string | null, signal: AbortSignal) =>
    console.get(salesReportPath(task, { vendor: account.part, day: subject, version }), signal)

  /** Retries with the latest version that the response names. Null if it names no other version. */
  const askLatest = async (task: ReportTask, version: string | null, answer: ConsoleOutcome, signal: AbortSignal) => {
    const latest = latestVersionIn(answer)
    if (latest === null || latest === version) return null
    await learn(task.task, latest)
    confirmed.add(task.task)
    return await get(task, latest, signal)
  }

  /** Requests with a version, and retries with the latest version if the response names another. */
  const askWith = async (task: ReportTask, version: string | null, signal: AbortSignal): Promise<ConsoleAnswer> => {
    const first = await answered(() => get(task, version, signal))
    const latest = await askLatest(task, version, first, signal)
    if (latest !== null) return latest
    if (first instanceof ConsoleProblem) throw first
    return first
  }

  /**
   * Checks an empty day of a versioned report with a request without a version, in response to which the console names
   * the latest version.
   */
  const confirm = async (task: ReportTask, version: string, empty: ConsoleAnswer, signal: AbortSignal) => {
    const other = await answered(() => get(task, null, signal))
    const latest = await askLatest(task, version, other, signal)
    if (latest !== null) return latest
    if (latestVersionIn(other) === version || (!(other instanceof ConsoleProblem) && isEmpty(other))) {
      confirmed.add(task.task)
      return empty
    }
    if (other instanceof ConsoleProblem)
      throw new ReadFailure("changed", `it is unclear whether the day is empty: ${other.message}`)
    if (other.status === 200) await learn(task.task, null)
    return other
  }

  return {
    async ask(task, signal) {
      const version = await versionOf(task.task)
      const answer = await askWith(task, version, signal)
      const used = await versionOf(task.task)
      if (used === null || confirmed.has(task.task) || !isEmpty(answer)) return answer
      return await confirm(task, used, answer, signal)
    },
  }
}

type ConsoleOutcome = ConsoleAnswer | ConsoleProblem

async function answered(ask: () => Promise<ConsoleAnswer>): Promise<ConsoleOutcome> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ConsoleProblem && error.trouble === "refused") return error
    throw error
  }
}

function isEmpty({ status, bytes }: ConsoleAnswer): boolean {
  return status === 404 && saysNothingSold(bytes)
}

/** Returns the version in a text such as "The latest version for this report is 1_4". */
function latestVersionIn(answer: ConsoleOutcome): string | null {
  const isAnswer = !(answer instanceof ConsoleProblem)
  if (isAnswer && answer.status !== 404) return null
  const details = isAnswer ? detailsIn(answer.bytes) : answer.details
  const [detail] = details.filter((text) => /\bversion\b/i.test(text))
  const [latest] = /(?<=latest.*)\b\d{1,3}_\d{1,3}\b/is.exec(detail ?? "") ?? []
  return latest ?? null
}

async function readVersions(sql: Sql, account: string): Promise<Partial<Record<Report, string>>> {
  const [row] = await sql<{ versions: Partial<Record<Report, string>> }[]>`
    select report_versions as versions
    from connected_account
    where id = ${account}`
  return row?.versions ?? {}
}

async function storeVersion(sql: Sql, account: string, report: Report, version: string): Promise<void> {
  await sql`
    update connected_account
    set report_versions = report_versions || jsonb_build_object(${report}::text, ${version}::text)
    where id = ${account}`
}
