import { hash } from "node:crypto"
import type { Sql, Tx } from "../database/types.ts"
import { record } from "../observations/record.ts"
import { reportDigest } from "../observations/shapes/reports.ts"
import { type ReportReading, reportIn } from "../sources/accounts/reports.ts"
import { salesReportPath } from "../sources/accounts/request.ts"
import { type RawBody, ReadFailure, rawBody } from "../sources/source.ts"
import type { Console } from "./console.ts"
import { endTurn, lateAgainAt, lateState, readAgainAt, type Turn } from "./turns.ts"

export interface ReportParts {
  sql: Sql
  console: Console
  account: { id: string; part: string }
  now: () => Date
  /** Keeps a body as it came. */
  keep: (body: RawBody) => Promise<void>
  signal: AbortSignal
  /** Throws where the lease is lost: then nothing is stored. */
  fence: (tx: Tx) => Promise<void>
}

interface ReportEnd {
  state: "rows" | "none" | "late" | "changed"
  /** Requests that the key has left in this hour; null = not said. */
  hourLeft: number | null
}

/** Asks for a day's report and stores what it says, or that it is late, together with the turn's end. Throws ConsoleProblem. */
export async function readReport(parts: ReportParts, turn: Turn): Promise<ReportEnd> {
  const { sql, console, account, now, keep, signal } = parts
  const answer = await console.get(salesReportPath(turn.report, { vendor: account.part, day: turn.day }), signal)
  const { bytes, hourLeft } = answer
  const body = rawBody({ bytes, sha256: hash("sha256", bytes, "buffer"), url: "", seenAt: now() })
  try {
    const seen = await reportIn(answer, { account: account.id, ...turn }, body)
    if (seen === "late") {
      const end = { state: lateState(turn.day, now()), nextAt: lateAgainAt(turn.day, now()) }
      await endTurn(sql, account.id, turn, end)
      return { state: "late", hourLeft }
    }
    await keep(body)
    return { state: await storeReport(parts, turn, seen), hourLeft }
  } catch (error) {
    if (!(error instanceof ReadFailure)) throw error
    await keep(body)
    const end = { state: "late" as const, nextAt: lateAgainAt(turn.day, now()), failure: error.message }
    await endTurn(sql, account.id, turn, end)
    return { state: "changed", hourLeft }
  }
}

/** What stands already is not stored again: a report counts as seen when it first said so. */
async function storeReport({ sql, account, now, fence }: ReportParts, turn: Turn, seen: ReportReading) {
  const state = seen.rows.length > 0 ? ("rows" as const) : ("none" as const)
  const [stands] = await sql<{ digest: Uint8Array }[]>`
    select digest
    from report_day
    where account_id = ${account.id} and report = ${turn.report} and day = ${turn.day}
    order by seen_at desc, parser desc, sha256 desc
    limit 1`
  const isNew = !stands || !reportDigest(seen.rows).equals(stands.digest)
  await record(sql, isNew ? [seen] : [], now, {
    all: true,
    async finish(tx) {
      await fence(tx)
      await endTurn(tx, account.id, turn, { state, nextAt: readAgainAt(turn.day, now()) })
    },
  })
  return state
}
