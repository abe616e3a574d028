import { hash } from "node:crypto"
import { record } from "../observations/record.ts"
import { reportDigest } from "../observations/shapes/reports.ts"
import { type ReportReading, reportIn } from "../sources/accounts/reports.ts"
import { PutAside } from "../sources/put-aside.ts"
import { rawBody } from "../sources/source.ts"
import { questionFailure } from "./failed-question.ts"
import type { AccountTurn } from "./kind.ts"
import { SALES_ROLES } from "./look.ts"
import type { ReportRequests } from "./report-versions.ts"
import { endTurn, failTurn, lateAgainAt, lateState, noteReportDenied, readAgainAt, type Turn } from "./turns.ts"

export interface ReportParts extends Omit<AccountTurn, "noteAnswer" | "gapMs" | "atMost" | "closing"> {
  requests: ReportRequests
}

/**
 * Asks for a day's report and stores what it says, or that it is late, together with the turn's end. A failure ends this turn alone;
 * throws what stops the account.
 */
export async function readReport(parts: ReportParts, turn: Turn): Promise<void> {
  const { sql, account, now, signal, log, noteDenied } = parts
  try {
    await readOrThrow(parts, turn)
  } catch (error) {
    const failure = questionFailure(error, { signal, log, what: `report ${turn.report}` })
    if (failure === null) throw error
    if (failure.isDenied) {
      await noteReportDenied(sql, account.id, turn, { failure: failure.message, why: `needs ${SALES_ROLES}` })
      await noteDenied()
    } else await failTurn(sql, account.id, turn, { state: lateState(turn.day, now()), failure: failure.message })
    if (failure.stops) throw error
  }
}

async function readOrThrow(parts: ReportParts, turn: Turn): Promise<void> {
  const { sql, account, now, keep, signal, requests } = parts
  const answer = await requests.ask(turn, signal)
  const { bytes } = answer
  const body = rawBody({ bytes, sha256: hash("sha256", bytes, "buffer"), url: "", seenAt: now() })
  const aside = new PutAside()
  let seen: ReportReading | "late"
  try {
    seen = await reportIn(answer, { account: account.id, report: turn.report, day: turn.day }, body, aside)
  } catch (error) {
    await keep(body)
    throw error
  }
  if (seen === "late") {
    const end = { state: lateState(turn.day, now()), nextAt: lateAgainAt(turn.day, now()) }
    return await endTurn(sql, account.id, turn, end)
  }
  await keep(body)
  await storeReport(parts, turn, { seen, putAside: aside.text() })
}

/** What stands already is not stored again: a report counts as seen when it first said so. */
async function storeReport(
  { sql, account, now, fence }: ReportParts,
  turn: Turn,
  { seen, putAside }: { seen: ReportReading; putAside: string | null },
): Promise<void> {
  const state = seen.rows.length > 0 ? "rows" : "none"
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
      await endTurn(tx, account.id, turn, { state, nextAt: readAgainAt(turn.day, now()), putAside })
    },
  })
}
