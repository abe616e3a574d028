import * as v from "valibot"
import type { ListKey } from "../../core/observation/subjects.ts"
import { type Context, nothing, operation } from "../../core/operation.ts"
import type { Sql } from "../../database/types.ts"
import { type DayResults, readDays, readLastDayBy } from "../../keywords/read/term-results.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { Platform, Term, wholeNumber } from "../../lib/fields.ts"
import type { TableRow } from "../../lib/list-table.ts"
import { valueAt } from "../../lib/objects.ts"
import { described, named } from "../../lib/schema.ts"
import { Day, Rank, RankSource, Store, Storefront, Time } from "../../tracking/shapes.ts"
import { dayPrice, MAX_DAYS } from "./day-prices.ts"
import { MarketCountry } from "./inputs.ts"
import { readMarketApps } from "./market-apps.ts"
import { whyUnread } from "./read-now.ts"

const DAYS = 7
const TOP = 20
/** No source reads more places a day. */
const MAX_TOP = 250
const MAX_ROWS = 999

const Results = named(
  "MarketResults",
  v.strictObject({
    day: Day,
    measured: described(v.boolean(), "False if not read that day; the other fields are then null."),
    measuredAt: described(v.nullable(Time), "Time of the day's best reading."),
    source: described(v.nullable(RankSource), "Compare ranks of one source only."),
    origin: described(v.nullable(v.string()), "Instance of the reading. own: this instance."),
    depth: described(v.nullable(Rank), "Number of places read. Apps below are unknown."),
    apps: described(
      v.nullable(
        v.array(
          v.strictObject({
            rank: Rank,
            id: described(v.string(), "App Store id or package name."),
            name: described(v.string(), "Name in that storefront, else elsewhere, else the id."),
          }),
        ),
      ),
      "By rank. Empty if the store found nothing.",
    ),
  }),
)

export const hiveGetKeywordRanks = operation({
  id: "hive_get_keyword_ranks",
  method: "GET",
  path: "/hive/keywords/:term/ranks",
  group: "Hive",
  toolset: "hive",
  summary: "Returns the first results of any keyword, day by day.",
  description:
    "Covers the days read here or imported. If `top` × `days` exceeds " +
    `${MAX_ROWS}, fewer days are returned. A keyword without results is read once on request. check_rank has one ` +
    "app's current rank, get_rank_history the ranks of your own apps.",
  effect: "measures",
  scope: "hive:read",
  hive: "pack",
  price: dayPrice(DAYS),
  faults: ["not_measured", "hive_read_failed"],
  input: v.strictObject({
    term: Term,
    top: v.optional(wholeNumber(1, MAX_TOP, `Default: ${TOP}.`, "invalid_arguments")),
    days: v.optional(wholeNumber(1, MAX_DAYS, `Number of days up to today. Default: ${DAYS}.`, "bad_days")),
    country: MarketCountry,
    platform: Platform,
  }),
  output: v.strictObject({
    term: described(v.string(), "The normalised keyword."),
    country: Storefront,
    platform: Store,
    top: described(Rank, "Maximum number of results per day."),
    days: described(Rank, "Number of days listed, fewer than requested if top is large."),
    from: described(Day, "First day listed."),
    to: described(Day, "Last day listed: today."),
    results: described(v.array(Results), "Every day listed, latest first."),
  }),
  table: {
    columns: ["day", "measured", "rank", "id", "name", "measuredAt", "source", "origin", "depth"],
    rows: ({ results }) => results.flatMap(dayRows),
  },
}).run(async ({ term, country: storefront, platform, top = TOP, days: requestedDays = DAYS }, ctx) => {
  const list = { platform, storefront, term }
  const days = Math.min(requestedDays, Math.floor(MAX_ROWS / top))
  const to = dayOf(ctx.now())
  const window = { from: addDays(to, 1 - days), to, top }
  const found = await readDays(ctx.sql, list, window)
  if (found.length === 0) return nothing(await putToBeRead(ctx, list, to))
  return {
    term,
    country: storefront,
    platform,
    top,
    days,
    from: window.from,
    to,
    results: await readShownDays(ctx.sql, found, { ...window, storefront }),
  }
})

async function readShownDays(
  sql: Sql,
  found: readonly DayResults[],
  { from, to, storefront }: { from: string; to: string; storefront: string },
): Promise<v.InferInput<typeof Results>[]> {
  const byDay = new Map(found.map((item) => [item.day, item]))
  const apps = await readMarketApps(sql, [...new Set(found.flatMap(({ appIds }) => appIds))], storefront)
  const results: v.InferInput<typeof Results>[] = []
  for (let day = to; day >= from; day = addDays(day, -1)) {
    const read = byDay.get(day)
    if (!read) results.push({ day, measured: false, ...UNREAD })
    else {
      const { source, origin, depth, seenAt, appIds } = read
      const named = appIds.map((app, i) => {
        const { id, name } = valueAt(apps, app)
        return { rank: i + 1, id, name }
      })
      results.push({ day, measured: true, measuredAt: seenAt.toISOString(), source, origin, depth, apps: named })
    }
  }
  return results
}

const UNREAD = { measuredAt: null, source: null, origin: null, depth: null, apps: null }

/** Requests a reading of the keyword. Returns the not_measured fault, which names the last stored day, if any. */
async function putToBeRead(ctx: Context, { platform, storefront, term }: ListKey, to: string): Promise<Fault> {
  const wanted = { kind: "search", platform, storefront, subject: term } as const
  const why = await whyUnread(ctx, { wanted, keptDays: 0, waitMs: 0 })
  const { detail = BUSY } = (why?.extra ?? {}) as { detail?: string }
  const last = await readLastDayBy(ctx.sql, { platform, storefront, term }, to)
  return new Fault("not_measured", { detail: last ? `${detail} The last day stored is ${last}.` : detail })
}

const BUSY = "The store cannot be reached now. Try again later."

function dayRows({ apps, ...day }: v.InferInput<typeof Results>): TableRow[] {
  if (!apps || apps.length === 0) return [{ ...day, rank: null, id: null, name: null }]
  return apps.map((app) => ({ ...day, ...app }))
}
