import type { Sql } from "../database/types.ts"
import type { Log } from "../log.ts"
import type { Caller } from "./caller.ts"
import type { Entitlements } from "./plans.ts"

/** What a plan gives by the month besides credits, by the entitlements' names. */
const ALLOWANCES = [
  "discovery", "aiQuestions", "reviewAi", "aiWriting", "aiVisibility", "spy",
] as const satisfies (keyof Entitlements)[] // biome-ignore format: the order of get_usage
export type Allowance = (typeof ALLOWANCES)[number]
/** Of a month, or of all time where a plan gives them once. */
const LISTING_ALLOWANCES = ["listingWrites", "listingWritesEver"] as const
export type ListingAllowance = (typeof LISTING_ALLOWANCES)[number]
export type AnyAllowance = Allowance | ListingAllowance

/** Those that an operation takes from; of the others nothing is counted. */
const METERED: readonly Allowance[] = ["reviewAi", "aiWriting", "aiVisibility", "spy"]

/** What a unit is taken for: as long as that is open, nothing more is taken for it. */
interface UnitPurpose {
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

/** A workspace's measurements of one UTC day: units that only new work takes. */
interface MeasureAllowance {
  /** False when the day's units are used up: then none was taken. */
  granted: boolean
  used: number
  limit: number
  resetsAt: string
}

export interface Takings {
  /**
   * A unit of a month's allowance, given back when the call fails or its charge is refused. Exact over all processes: of any
   * number of calls at once one takes. Throws once the call has ended.
   */
  take(allowance: AnyAllowance, opening: UnitPurpose): Promise<AllowanceState>
  /** Gives back what this call took, unless another call relies on it: what it was for was not had. */
  release(allowance: AnyAllowance, about: string): Promise<void>
  /** Gives back what was taken for work that went on after its call and failed. False where nothing was. */
  returnUnit(allowance: AnyAllowance, about: string): Promise<boolean>
  /** A unit of the day's measurements; one for a call, however often it asks. */
  takeMeasurement(): Promise<MeasureAllowance>
  /** Nothing was begun with it. */
  returnMeasurement(): Promise<void>
  /** Ends the call as answered: what it relied on stays. Until then a process that dies leaves nothing taken. */
  keep(): Promise<void>
  /** Ends the call as failed: what it relied on is given back, unless another call relies on it. */
  giveBack(): Promise<void>
  readonly ended: boolean
}

interface TakingParts {
  sql: Sql
  log: Log
  requestId: string
}

export function openTakings(parts: TakingParts, caller: Caller): Takings {
  const begun: PendingUnit[] = []
  const { workspaceId, entitlements } = caller
  const call = { workspaceId, requestId: parts.requestId }
  let measurement: Promise<MeasureAllowance> | undefined
  const returnMeasurement = async () => {
    const known = await measurement?.catch(() => null)
    if (measurement === undefined || known?.granted === false) return
    measurement = undefined
    await persist(parts, () => giveMeasurementBack(parts.sql, call))
  }
  let ended = false
  return {
    get ended() {
      return ended
    },
    async take(allowance, opening) {
      if (ended) throw new Error(`nothing of ${allowance} is taken for a call that has ended`)
      const unit = { workspaceId, allowance, about: opening.about, requestId: parts.requestId }
      const taking = takeUnit(parts.sql, { ...unit, limit: entitlements[entitlementOf(allowance)], days: opening.days })
      begun.push({ unit, taking })
      return await taking
    },
    async release(allowance, about) {
      const released = begun.filter(({ unit }) => unit.allowance === allowance && unit.about === about)
      for (const one of released) begun.splice(begun.indexOf(one), 1)
      await Promise.all(released.map((one) => giveUnitBack(parts, one)))
    },
    async returnUnit(allowance, about) {
      const [row] = await parts.sql<{ returned: boolean }[]>`
        select return_allowance(${workspaceId}::int, ${allowance}::text, ${about}::text) as returned`
      return row!.returned
    },
    takeMeasurement() {
      if (ended) throw new Error("no measurement is taken for a call that has ended")
      measurement ??= takeMeasurement(parts.sql, { ...call, limit: entitlements.measurements })
      return measurement
    },
    returnMeasurement,
    async keep() {
      ended = true
      if (begun.length > 0) await keepUnits(parts, begun)
    },
    async giveBack() {
      ended = true
      await Promise.all([returnMeasurement(), ...begun.splice(0).map((one) => giveUnitBack(parts, one))])
    },
  }
}

/** Of this month; of listingWritesEver of all time. What dead processes took is not counted. */
export async function countUsedAllowances(sql: Sql, workspaceId: number): Promise<Map<AnyAllowance, number>> {
  const rows = await sql<{ allowance: AnyAllowance; used: number }[]>`
    select m.allowance, m.used - count(u.subject)::int as used
    from allowance_month m
    left join allowance_unit u on (u.workspace_id, u.allowance, u.month) = (m.workspace_id, m.allowance, m.month)
      and not u.answered and u.opened_at < now() - interval '10 minutes'
    where m.workspace_id = ${workspaceId}
      and m.month in (date_trunc('month', now() at time zone 'utc')::date, date '0001-01-01')
    group by m.allowance, m.month, m.used
    order by m.allowance
    limit 100`
  const used = new Map(rows.map((row) => [row.allowance, row.used]))
  return new Map([...METERED, ...LISTING_ALLOWANCES].map((allowance) => [allowance, used.get(allowance) ?? 0]))
}

function entitlementOf(allowance: AnyAllowance): Allowance | "listingWrites" {
  return allowance === "listingWritesEver" ? "listingWrites" : allowance
}

interface Unit {
  workspaceId: number
  allowance: AnyAllowance
  about: string
  requestId: string
}

interface PendingUnit {
  unit: Unit
  taking: ReturnType<typeof takeUnit>
}

async function takeUnit(sql: Sql, asked: Unit & { limit: number; days: number }): Promise<AllowanceState> {
  const { workspaceId, allowance, limit, about, days, requestId } = asked
  const [row] = await sql<{ granted: boolean; used: number; month: string; openUntil: Date | null }[]>`
    select granted, used, month, open_until as "openUntil"
    from take_allowance(
      ${workspaceId}::int, ${allowance}::text, ${limit}::bigint, ${about}::text, ${days}::int, ${requestId}::text
    )`
  const { granted, used, month, openUntil } = row!
  return { granted, used, limit, resetsAt: monthAfter(month), openUntil: openUntil?.toISOString() ?? null }
}

function monthAfter(month: string): string {
  const [year, number] = month.split("-").map(Number) as [number, number]
  return new Date(Date.UTC(year, number)).toISOString()
}

const TRIES = 5

/** Goes by request, so nothing is given back twice; what was taken without an answer may stand. */
async function giveUnitBack(parts: TakingParts, { unit, taking }: PendingUnit): Promise<void> {
  const known = await taking.catch(() => null)
  if (known && !known.granted) return
  await persist(parts, () => giveBackUnit(parts.sql, unit))
}

/** Undoes what a request took, once; of work that failed after its call was answered. In no transaction of others. */
export async function giveBackUnit(sql: Sql, { workspaceId, allowance, about, requestId }: Unit): Promise<void> {
  await sql`
    select give_back_allowance(${workspaceId}::int, ${allowance}::text, ${about}::text, ${requestId}::text)`
}

/** Where that fails the units come back, though the call was answered. */
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
    log("warn", "units_not_kept", { requestId, reason: (error as Error).message })
  }
}

async function persist({ log, requestId }: TakingParts, giveBack: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    try {
      await giveBack()
      return
    } catch (error) {
      log("warn", "give_back_failed", { requestId, count: attempt, reason: (error as Error).message })
    }
    await new Promise((resolve) => setTimeout(resolve, attempt * 1_000))
  }
}

interface MeasureUnit {
  workspaceId: number
  requestId: string
}

/** Exact over all processes; the day is the database's. */
async function takeMeasurement(
  sql: Sql,
  { workspaceId, requestId, limit }: MeasureUnit & { limit: number },
): Promise<MeasureAllowance> {
  const [row] = await sql<{ used: number | null; resetsOn: string }[]>`
    with today as (
      select (now() at time zone 'utc')::date as day
    ), taken as (
      insert into measure_day as held (workspace_id, day, requests)
      select ${workspaceId}::int, day, array[${requestId}::text]
      from today
      where ${limit}::int > 0
      on conflict (workspace_id, day) do update
      set requests = array_append(held.requests, ${requestId}::text)
      where cardinality(held.requests) < ${limit}::int
      returning cardinality(requests) as used
    )
    select (select used from taken), (day + 1)::text as "resetsOn"
    from today`
  const { used, resetsOn } = row!
  return { granted: used !== null, used: used ?? limit, limit, resetsAt: `${resetsOn}T00:00:00.000Z` }
}

/** However often it is asked: what a request took goes once. */
async function giveMeasurementBack(sql: Sql, { workspaceId, requestId }: MeasureUnit): Promise<void> {
  await sql`
    update measure_day
    set requests = array_remove(requests, ${requestId}::text)
    where workspace_id = ${workspaceId} and day >= (now() at time zone 'utc')::date - 1
      and ${requestId}::text = any(requests)`
}
