import type { Sql } from "../database/types.ts"
import type { Log } from "../log.ts"
import type { Caller } from "./caller.ts"
import type { Entitlements } from "./plans.ts"

/** What a plan gives by the month besides credits, by the entitlements' names. */
export const ALLOWANCES = [
  "discovery", "aiQuestions", "reviewAi", "aiWriting", "aiVisibility", "spy",
] as const satisfies (keyof Entitlements)[] // biome-ignore format: the order of get_usage
export type Allowance = (typeof ALLOWANCES)[number]

/** Those that an operation takes from; of the others nothing is counted. */
export const METERED: readonly Allowance[] = ["reviewAi", "aiWriting", "spy"]

/** What a unit is taken for: as long as that is open, nothing more is taken for it. */
export interface UnitPurpose {
  /** Names it within the workspace and the allowance. */
  about: string
  days: number
}

export interface AllowanceState {
  /** False when the month's allowance is used up: then nothing was taken. */
  granted: boolean
  used: number
  limit: number
  resetsAt: string
  /** Until when what it was taken for is open, ISO, by the database's clock; null = not granted. */
  openUntil: string | null
}

export interface Takings {
  /** Exact over all processes: of any number of calls at once one takes. Throws once the call has ended. */
  take(allowance: Allowance, opening: UnitPurpose): Promise<AllowanceState>
  /** Ends the call as failed and gives back what it took, but for what another call relies on by then. */
  giveBack(): Promise<void>
  readonly ended: boolean
}

export interface TakingParts {
  sql: Sql
  log: Log
  requestId: string
}

export function openTakings(parts: TakingParts, caller: Caller): Takings {
  const begun: PendingUnit[] = []
  let ended = false
  return {
    get ended() {
      return ended
    },
    async take(allowance, opening) {
      if (ended) throw new Error(`nothing of ${allowance} is taken for a call that has ended`)
      const { workspaceId, entitlements } = caller
      const unit = { workspaceId, allowance, about: opening.about, requestId: parts.requestId }
      const taking = takeUnit(parts.sql, { ...unit, limit: entitlements[allowance], days: opening.days })
      begun.push({ unit, taking })
      return (await taking).taken
    },
    async giveBack() {
      ended = true
      await Promise.all(begun.splice(0).map((one) => giveUnitBack(parts, one)))
    },
  }
}

export async function countUsedAllowances(sql: Sql, workspaceId: number): Promise<Map<Allowance, number>> {
  const rows = await sql<{ allowance: Allowance; used: number }[]>`
    select allowance, used
    from allowance_month
    where workspace_id = ${workspaceId} and month = date_trunc('month', now() at time zone 'utc')::date
    order by allowance
    limit 100`
  const used = new Map(rows.map((row) => [row.allowance, row.used]))
  return new Map(METERED.map((allowance) => [allowance, used.get(allowance) ?? 0]))
}

interface Unit {
  workspaceId: number
  allowance: Allowance
  about: string
  requestId: string
}

interface PendingUnit {
  unit: Unit
  taking: ReturnType<typeof takeUnit>
}

async function takeUnit(sql: Sql, asked: Unit & { limit: number; days: number }) {
  const { workspaceId, allowance, limit, about, days, requestId } = asked
  const [row] = await sql<{ granted: boolean; isNew: boolean; used: number; month: string; openUntil: Date | null }[]>`
    select granted, taken as "isNew", used, month, open_until as "openUntil"
    from take_allowance(
      ${workspaceId}::int, ${allowance}::text, ${limit}::bigint, ${about}::text, ${days}::int, ${requestId}::text
    )`
  const { granted, isNew, used, month, openUntil } = row!
  const taken = { granted, used, limit, resetsAt: monthAfter(month), openUntil: openUntil?.toISOString() ?? null }
  return { isNew, taken }
}

function monthAfter(month: string): string {
  const [year, number] = month.split("-").map(Number) as [number, number]
  return new Date(Date.UTC(year, number)).toISOString()
}

const TRIES = 5

/** Goes by request, so nothing is given back twice; what was taken without an answer may stand. */
async function giveUnitBack({ sql, log }: TakingParts, { unit, taking }: PendingUnit): Promise<void> {
  const known = await taking.catch(() => null)
  if (known && !known.isNew) return
  const { workspaceId, allowance, about, requestId } = unit
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    try {
      await sql`
        select give_back_allowance(${workspaceId}::int, ${allowance}::text, ${about}::text, ${requestId}::text)`
      return
    } catch (error) {
      log("warn", "give_back_failed", { requestId, count: attempt, reason: (error as Error).message })
    }
    await new Promise((resolve) => setTimeout(resolve, attempt * 1_000))
  }
}
