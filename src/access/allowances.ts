import { json } from "../database/json.ts"
import type { Sql } from "../database/types.ts"
import type { Log } from "../lib/log.ts"
import type { Caller } from "./caller.ts"
import type { Entitlements } from "./plans.ts"

/** The plan's monthly allowances other than credits, named like the entitlements. */
const ALLOWANCES = [
  "discovery",
  "aiQuestions",
  "reviewAi",
  "aiWriting",
  "aiVisibility",
  "spy",
] as const satisfies (keyof Entitlements)[]
export type Allowance = (typeof ALLOWANCES)[number]
/**
 * The monthly allowance for listing writes, and the allowance of plans that grant such writes only once and for all.
 */
const LISTING_ALLOWANCES = ["listingWrites", "listingWritesEver"] as const
export type ListingAllowance = (typeof LISTING_ALLOWANCES)[number]
export type AnyAllowance = Allowance | ListingAllowance
/** Counted by the UTC day of the database. */
type DailyAllowance = "hive" | "measurements"

/** The monthly allowances that operations take units from. Other allowances are not counted. */
const METERED: readonly Allowance[] = ["reviewAi", "aiWriting", "aiVisibility", "spy"]

/** The subject that a unit opens. While the subject is open, it takes no further unit. */
interface UnitPurpose {
  /** Unique within the workspace and the allowance. */
  about: string
  days: number
}

export interface AllowanceState {
  /** False if the period's allowance is used up. Nothing was taken then. */
  granted: boolean
  used: number
  limit: number
  /** Start of the next period. */
  resetsAt: string
  /** When the subject closes, ISO, by the database's clock. Null if not granted. */
  openUntil: string | null
}

export interface Takings {
  /**
   * Takes a unit, which is given back when the call fails or its charge is refused. Exact over all processes:
   * concurrent calls for the same subject take one unit together. Throws once the call has ended.
   */
  take(allowance: AnyAllowance, opening: UnitPurpose): Promise<AllowanceState>
  /** Gives back what this call took for a subject, unless another call relies on it. */
  release(allowance: AnyAllowance, about: string): Promise<void>
  /** Gives back the unit of work that continued after its call and then failed. False if there is none. */
  returnUnit(allowance: AnyAllowance, about: string): Promise<boolean>
  /** Takes a unit of the daily measurements, at most once per call. Call it only for work that is new. */
  takeMeasurement(): Promise<AllowanceState>
  /** Gives back the unit of `takeMeasurement` when no work was started with it. */
  returnMeasurement(): Promise<void>
  /**
   * Ends the call as answered, so that its units stay taken. If the process dies before this, the units are given back.
   */
  keep(): Promise<void>
  /** Ends the call as failed and gives its units back, unless another call relies on them. */
  giveBack(): Promise<void>
  readonly ended: boolean
}

interface TakingParts {
  sql: Sql
  log: Log
  requestId: string
}

export function openTakings(parts: TakingParts, caller: Caller): Takings {
  const { sql, requestId } = parts
  const begun: PendingUnit[] = []
  const { workspaceId, entitlements } = caller
  let measurement: Promise<AllowanceState> | undefined
  let ended = false
  const begin = (unit: Unit, limit: number, days: number) => {
    if (ended) throw new Error(`a unit of ${unit.allowance} cannot be taken for a call that has ended`)
    const taking = takeUnit(sql, unit, limit, days)
    begun.push({ unit, taking })
    return taking
  }
  const release = async (allowance: Unit["allowance"], about: string) => {
    const released = begun.filter(({ unit }) => unit.allowance === allowance && unit.about === about)
    for (const pending of released) begun.splice(begun.indexOf(pending), 1)
    await Promise.all(released.map((pending) => giveUnitBack(parts, pending)))
  }
  return {
    get ended() {
      return ended
    },
    async take(allowance, { about, days }) {
      const limit = entitlements[entitlementOf(allowance)]
      return await begin({ workspaceId, allowance, about, requestId }, limit, days)
    },
    release,
    returnUnit: (allowance, about) => giveBackUnit(sql, { workspaceId, allowance, about, requestId: null }),
    async takeMeasurement() {
      const unit: Unit = { workspaceId, allowance: "measurements", about: requestId, requestId }
      measurement ??= begin(unit, entitlements.measurements, 0)
      return await measurement
    },
    async returnMeasurement() {
      measurement = undefined
      await release("measurements", requestId)
    },
    async keep() {
      ended = true
      if (begun.length > 0) await keepUnits(parts, begun)
    },
    async giveBack() {
      ended = true
      await Promise.all(begun.splice(0).map((pending) => giveUnitBack(parts, pending)))
    },
  }
}

/** Returns the units used in the current period of each metered allowance. */
export async function countUsedAllowances(sql: Sql, workspaceId: number): Promise<Map<AnyAllowance, number>> {
  const used = await readUsed(sql, workspaceId)
  return new Map([...METERED, ...LISTING_ALLOWANCES].map((allowance) => [allowance, used.get(allowance) ?? 0]))
}

/** Excludes the units of calls whose process died. */
async function readUsed(sql: Sql, workspaceId: number): Promise<Map<AnyAllowance | DailyAllowance, number>> {
  const rows = await sql<{ allowance: AnyAllowance | DailyAllowance; used: number }[]>`
    select a.allowance, a.used - count(u.subject)::int as used
    from allowance_used a
    cross join lateral allowance_period(a.allowance) p
    left join allowance_unit u on (u.workspace_id, u.allowance, u.period) = (a.workspace_id, a.allowance, a.period)
      and not u.answered and u.opened_at < now() - interval '10 minutes'
    where a.workspace_id = ${workspaceId} and a.period = p.period
    group by a.allowance, a.period, a.used
    order by a.allowance
    limit 100`
  return new Map(rows.map((row) => [row.allowance, row.used]))
}

/** Returns the number of Hive calls of the UTC day. */
export async function countHiveCalls(sql: Sql, workspaceId: number): Promise<number> {
  return (await readUsed(sql, workspaceId)).get("hive") ?? 0
}

function entitlementOf(allowance: AnyAllowance): Allowance | "listingWrites" {
  return allowance === "listingWritesEver" ? "listingWrites" : allowance
}

interface Unit {
  workspaceId: number
  allowance: AnyAllowance | "measurements"
  about: string
  requestId: string
}

interface PendingUnit {
  unit: Unit
  taking: Promise<AllowanceState>
}

/** The units to take, either for a subject, so that they can be given back, or without one. */
interface WantedUnits {
  workspaceId: number
  allowance: AnyAllowance | DailyAllowance
  limit: number
  count: number
  subject?: { about: string; days: number; requestId: string }
}

interface TakenUnits {
  granted: number
  /** Units used in this period, including the granted ones. */
  used: number
  resetsAt: string
  openUntil: string | null
}

/** Takes units. Exact over all processes. Without `waits`, the results of locked allowances are undefined. */
export async function takeUnits(
  sql: Sql,
  wanted: readonly WantedUnits[],
  waits: boolean,
): Promise<(TakenUnits | undefined)[]> {
  const records = wanted.map(({ workspaceId, allowance, limit, count, subject }) => ({
    workspace_id: workspaceId,
    allowance,
    most: limit,
    count,
    subject: subject?.about,
    days: subject?.days,
    request_id: subject?.requestId,
  }))
  const rows = await sql<TakenRow[]>`
    select place, granted, used, resets_at as "resetsAt", open_until as "openUntil"
    from take_allowance(${json(sql, records)}, ${waits})
    order by place
    limit ${wanted.length}`
  const results: (TakenUnits | undefined)[] = Array(wanted.length).fill(undefined)
  for (const { place, granted, used, resetsAt, openUntil } of rows) {
    results[place - 1] = {
      granted,
      used,
      resetsAt: (resetsAt ?? NEVER).toISOString(),
      openUntil: openUntil?.toISOString() ?? null,
    }
  }
  return results
}

interface TakenRow extends Pick<TakenUnits, "granted" | "used"> {
  place: number
  /** Null if the allowance is never renewed. */
  resetsAt: Date | null
  openUntil: Date | null
}

const NEVER = new Date("9999-12-31")

async function takeUnit(sql: Sql, unit: Unit, limit: number, days: number): Promise<AllowanceState> {
  const { workspaceId, allowance, about, requestId } = unit
  const wanted = { workspaceId, allowance, limit, count: 1, subject: { about, days, requestId } }
  const [taken] = await takeUnits(sql, [wanted], true)
  const { granted, used, resetsAt, openUntil } = taken!
  return { granted: granted > 0, used, limit, resetsAt, openUntil }
}

const TRIES = 5

/**
 * Gives back a unit by its request id, so that it is given back only once. Also needed if the database's response to
 * taking it was lost: the unit may have been taken.
 */
async function giveUnitBack(parts: TakingParts, { unit, taking }: PendingUnit): Promise<void> {
  const taken = await taking.catch(() => null)
  if (taken && !taken.granted) return
  await persist(parts, () => giveBackUnit(parts.sql, unit))
}

/**
 * Gives a unit back once, unless other requests rely on it. Without a request id, gives it back even if others rely on
 * it. False if there was nothing to give back. Never call this inside a transaction that takes other locks.
 */
export async function giveBackUnit(
  sql: Sql,
  { workspaceId, allowance, about, requestId }: Omit<Unit, "requestId"> & { requestId: string | null },
): Promise<boolean> {
  const [row] = await sql<[{ isReturned: boolean }]>`
    select give_back_allowance(${workspaceId}::int, ${allowance}::text, ${about}::text, ${requestId}::text)
      as "isReturned"`
  return row.isReturned
}

/**
 * Marks the units as those of an answered call. If this statement fails, the units are given back although the call was
 * answered.
 */
async function keepUnits({ sql, log, requestId }: TakingParts, begun: readonly PendingUnit[]): Promise<void> {
  const units = begun.map(({ unit }) => unit)
  try {
    await sql`
      update allowance_unit u
      set answered = true
      from unnest(${units.map(({ allowance }) => allowance)}::text[], ${units.map(({ about }) => about)}::text[])
        as kept (allowance, subject)
      where u.workspace_id = ${units[0]!.workspaceId} and u.allowance = kept.allowance and u.subject = kept.subject`
  } catch (error) {
    log("warn", "units_not_stored", { requestId, reason: (error as Error).message })
  }
}

async function persist({ log, requestId }: TakingParts, giveBack: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    try {
      await giveBack()
      return
    } catch (error) {
      log("warn", "unit_refund_failed", { requestId, count: attempt, reason: (error as Error).message })
    }
    await new Promise((resolve) => setTimeout(resolve, attempt * 1_000))
  }
}
