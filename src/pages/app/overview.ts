import * as v from "valibot"
import { Money } from "../../consoles/operations/account-shapes.ts"
import { readWeekProceeds, type WeekProceeds } from "../../consoles/read/read-proceeds.ts"
import { dollarRate } from "../../consoles/seller/price-levels.ts"
import { type Context, operation } from "../../core/operation.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import type { RankMonth } from "../../keywords/formulas/rank-month.ts"
import { readAppRankMonths } from "../../keywords/read/app-months.ts"
import { sidesOf } from "../../keywords/read/day-answers.ts"
import { readStanding } from "../../keywords/read/standings.ts"
import { dayOf } from "../../lib/days.ts"
import { described } from "../../lib/schema.ts"
import { Count, Day, Rank, Store, Storefront } from "../../lib/shapes.ts"
import { DAY_MS } from "../../lib/time.ts"
import { hidesMoney } from "../../overview/operations/day-shapes.ts"
import { type AppReviews, readAppReviews } from "../../reviews/read/app-day.ts"
import { head, headFields } from "./apps.ts"
import { shared } from "./workspace.ts"

/** Apps per page. */
const PAGE_APPS = 60
const ORDERS = ["movement", "name", "reviews", "revenue"] as const

const Mover = v.strictObject({
  term: v.string(),
  country: Storefront,
  platform: Store,
  from: described(v.nullable(Rank), "Null if absent."),
  to: v.nullable(Rank),
  fromDay: Day,
  toDay: Day,
})

const Ranks = v.strictObject({
  tracked: described(
    Count,
    "Keywords in all storefronts and both stores; if the day is older than 30 days, in the first storefront of " +
      "one store.",
  ),
  day: described(v.nullable(Day), "The latest day on which a keyword was measured. Null if never."),
  measured: described(Count, "Keywords measured on that day."),
  top10: Count,
  best: v.nullable(Rank),
  up: described(v.nullable(Count), "Keywords that rose in the last 7 days. Null if nothing can be compared."),
  down: v.nullable(Count),
  riser: v.nullable(Mover),
  faller: v.nullable(Mover),
  line: described(
    v.array(v.nullable(v.number())),
    "For each day, the share of measured keywords that were in the top ten.",
  ),
})

const Reviews = v.strictObject({
  newReviews: described(v.nullable(Count), "Reviews of the last 7 days. Null if no list of reviews was read."),
  averageStars: v.nullable(v.number()),
})

const week = {
  to: described(v.nullable(Day), "The latest reported day."),
  days: described(Count, "Reported days among the seven that end with it."),
  proceeds: described(v.array(Money), "One amount per currency. Nothing is converted."),
  isInvented: described(v.boolean(), "The figures are from the demo account."),
}

/** Revenue in the App Store. `play` has the revenue on Google Play if its console has the app. */
const Revenue = v.strictObject({
  state: v.picklist(["reported", "not_reported", "not_connected", "hidden"]),
  ...week,
  play: v.exactOptional(v.strictObject({ figure: v.picklist(["estimated_sales", "proceeds"]), ...week })),
})

type Revenue = v.InferOutput<typeof Revenue>

export const getOverview = operation({
  ...shared,
  id: "get_overview",
  path: "/page/overview",
  summary: "Where each app stands: 30 days of its keywords, and 7 days of its reviews and revenue.",
  scope: "apps:read",
  input: v.strictObject({
    q: v.optional(v.pipe(v.string(), v.maxLength(120)), ""),
    order: v.optional(v.picklist(ORDERS), "movement"),
    page: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000)), 1),
  }),
  output: v.strictObject({
    total: described(Count, "Number of apps that the person sees."),
    matching: described(Count, "Number of these apps that match the search."),
    pages: Count,
    apps: v.array(v.strictObject({ ...headFields, ranks: Ranks, reviews: Reviews, revenue: Revenue })),
  }),
}).run(async ({ q, order, page }, parts) => {
  const visible = await parts.visibleApps()
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  const found = visible.filter((app) => words.every((word) => searchText(app).includes(word))).sort(byName)
  const read = readersOf(parts)
  const worth = await worthOf(order, found, read)
  // the sort is stable: apps with equal values stay ordered by name
  const sorted = found.sort((a, b) => worth(b) - worth(a))
  const pageApps = sorted.slice((page - 1) * PAGE_APPS, page * PAGE_APPS)
  const ranks = await read.ranks(pageApps)
  const reviews = await read.reviews(pageApps)
  const revenue = await read.revenue(pageApps)
  const older = await readOlder(
    parts.sql,
    pageApps.filter((app) => ranks(app).day === null),
  )
  return {
    total: visible.length,
    matching: found.length,
    pages: Math.ceil(found.length / PAGE_APPS),
    apps: pageApps.map((app) => ({
      ...head(app),
      ranks: { ...ranks(app), ...older.get(app.id) },
      reviews: { newReviews: reviews(app).newReviews, averageStars: reviews(app).averageStars },
      revenue: revenue(app),
    })),
  }
})

function searchText({ name, iosId, androidPkg }: TrackedApp): string {
  return [name, iosId, androidPkg].join(" ").toLowerCase()
}

function byName(a: TrackedApp, b: TrackedApp): number {
  const [one, other] = [a.name.toLowerCase(), b.name.toLowerCase()]
  return one < other ? -1 : one > other ? 1 : a.id < b.id ? -1 : 1
}

type Readers = ReturnType<typeof readersOf>

function readersOf({ sql, caller, now }: Context) {
  const today = dayOf(now())
  const to = new Date(Date.parse(today) + DAY_MS)
  const span = { from: new Date(to.getTime() - 7 * DAY_MS), to, now: now() }
  return {
    ranks: remembered<RankMonth>((apps) => readAppRankMonths(sql, apps, today)),
    reviews: remembered<AppReviews>((apps) => readAppReviews(sql, apps, span)),
    revenue: remembered<Revenue>(async (apps) => {
      if (hidesMoney(caller)) return apps.map(() => ({ ...NO_REVENUE, state: "hidden" }))
      const { workspaceId } = caller
      const weeks = await readWeekProceeds(sql, { workspaceId, platform: "ios" }, apps, today)
      const playWeeks = await readWeekProceeds(sql, { workspaceId, platform: "android" }, apps, today)
      const byApp = new Map(weeks.map((week) => [week.appId, week]))
      const playByApp = new Map(playWeeks.map(({ appId, ...play }) => [appId, { play }]))
      return apps.map(({ id }) => ({ ...revenueOf(byApp.get(id)), ...playByApp.get(id) }))
    }),
  }
}

const NO_REVENUE = { to: null, days: 0, proceeds: [], isInvented: false }

function revenueOf(week: WeekProceeds | undefined): Revenue {
  if (!week) return { ...NO_REVENUE, state: "not_connected" }
  const { to, days, proceeds, isInvented } = week
  return { state: to === null ? "not_reported" : "reported", to, days, proceeds, isInvented }
}

/**
 * Returns a function that reads figures once. It reads them for all apps if the order needs them, otherwise for the
 * apps of the page.
 */
function remembered<Value>(read: (apps: readonly TrackedApp[]) => Promise<Value[]>) {
  let values: Map<string, Value> | null = null
  return async (apps: readonly TrackedApp[]): Promise<(app: TrackedApp) => Value> => {
    if (values === null) {
      const all = await read(apps)
      values = new Map(apps.map(({ id }, at) => [id, all[at] as Value]))
    }
    const byId = values
    return ({ id }) => byId.get(id) as Value
  }
}

/**
 * Maximum number of apps whose latest ranks are read if they are older than 30 days. Each app takes a statement per
 * store.
 */
const MAX_OLDER = 25

type Older = Pick<RankMonth, "day" | "tracked" | "measured" | "top10" | "best">

/** Returns the latest standing, in their first storefront, of apps that were not measured for 30 days. */
async function readOlder(sql: Sql, apps: readonly TrackedApp[]): Promise<Map<string, Older>> {
  const byId = new Map<string, Older>()
  for (const app of apps.slice(0, MAX_OLDER))
    for (const side of sidesOf(app).filter(({ storefront }) => storefront === app.countries[0])) {
      const { day, tracked, measured, top10, best } = await readStanding(sql, side)
      if (day !== null && day > (byId.get(app.id)?.day ?? "")) byId.set(app.id, { day, tracked, measured, top10, best })
    }
  return byId
}

/** Returns a function that gives an app's value in this order: higher values come first, unknown figures last. */
async function worthOf(
  order: (typeof ORDERS)[number],
  apps: readonly TrackedApp[],
  read: Readers,
): Promise<(app: TrackedApp) => number> {
  if (order === "name") return () => 0
  if (order === "movement") {
    const ranks = await read.ranks(apps)
    return (app) => (ranks(app).up === null ? -1 : (ranks(app).up ?? 0) + (ranks(app).down ?? 0))
  }
  if (order === "reviews") {
    const reviews = await read.reviews(apps)
    return (app) => reviews(app).newReviews ?? -1
  }
  const revenue = await read.revenue(apps)
  return (app) => dollarsOf(revenue(app))
}

/** Returns the revenue in US dollars, for sorting only: old exchange rates and unsettled amounts suffice. */
function dollarsOf({ state, proceeds, play }: Revenue): number {
  if (state !== "reported" && (play?.to ?? null) === null) return Number.NEGATIVE_INFINITY
  return [...proceeds, ...(play?.proceeds ?? [])].reduce((sum, { amount, currency }) => {
    const rate = dollarRate(currency)
    return rate === null ? sum : sum + Number(amount) / rate
  }, 0)
}
