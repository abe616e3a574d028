import * as v from "valibot"
import { Source } from "../../charts/operations/charts.ts"
import { nothing, operation } from "../../core/operation.ts"
import { CHARTS, DEVICES } from "../../lib/charts.ts"
import { addDays, dayOf } from "../../lib/days.ts"
import { Country, wholeNumber } from "../../lib/fields.ts"
import { described, named } from "../../lib/schema.ts"
import { Count, Day, Origin, Rank, Store, Storefront, Time } from "../../tracking/shapes.ts"
import { countCoveredDays, readNewApps } from "../read/new-apps.ts"
import { readChartedStorefronts } from "../read/publishers.ts"
import { marketAppFields } from "./market-apps.ts"

const DAYS = 7
const LIMIT = 50

const NewApp = named(
  "NewApp",
  v.strictObject({
    ...marketAppFields,
    firstSeen: described(Day, "First day on which a chart of that storefront showed it."),
    country: Storefront,
    device: described(v.picklist(DEVICES), "Device of a chart that showed it that day."),
    kind: described(v.picklist(CHARTS), "Kind of that chart."),
    genre: described(v.string(), "Genre of that chart: the App Store's id, 36 means all apps."),
    rank: described(Rank, "Rank on that chart that day."),
    measuredAt: described(Time, "Time of that reading."),
    source: Source,
    origin: Origin,
    releasedAt: described(
      v.nullable(Time),
      "First release in the store. Null if unknown. If it is long before firstSeen, the app is not new but has risen.",
    ),
  }),
)

export const hiveListNewApps = operation({
  id: "hive_list_new_apps",
  method: "GET",
  path: "/hive/new",
  group: "Hive",
  toolset: "hive",
  summary: "Lists apps that appeared on the App Store's top charts for the first time.",
  description: "On the first day of a chart no app is new. Without country each app is listed once.",
  effect: "reads",
  scope: "hive:read",
  hive: "pack",
  price: 10,
  faults: [],
  input: v.strictObject({
    days: v.optional(wholeNumber(1, 30, `Number of UTC days up to today. Default: ${DAYS}.`, "bad_days")),
    country: described(v.optional(Country), "Two-letter storefront code. Default: all."),
    limit: v.optional(wholeNumber(1, 200, `Maximum number of apps. Default: ${LIMIT}.`, "invalid_arguments")),
  }),
  narrow: { rows: ["apps"] },
  table: "apps",
  output: v.strictObject({
    country: described(v.nullable(Storefront), "The requested storefront. Null for all."),
    platform: described(Store, "Always ios: Google Play publishes no charts."),
    days: described(Rank, "The requested number of days."),
    from: described(Day, "First day of the period."),
    to: described(Day, "Last day of the period: today."),
    daysCovered: described(
      Count,
      "Days with a chart reading, without the storefront's first day. New apps of other days are unknown.",
    ),
    searched: described(v.array(Storefront), "Requested storefronts with a chart reading."),
    apps: described(
      v.array(NewApp),
      "Newest first, then highest id first. Apps on the first reading of any chart of the storefront (without " +
        "country: of any storefront), or on an earlier one, are excluded.",
    ),
  }),
}).run(async ({ days = DAYS, country, limit = LIMIT }, { sql, now }) => {
  const to = dayOf(now())
  const span = { from: addDays(to, 1 - days), to }
  const read = await readChartedStorefronts(sql)
  const searched = country === undefined ? read : read.filter((storefront) => storefront === country)
  const everywhere = country === undefined
  const apps = searched.length > 0 ? await readNewApps(sql, searched, { ...span, everywhere, limit }) : []
  const answer = {
    country: country ?? null,
    platform: "ios" as const,
    days,
    ...span,
    daysCovered: await countCoveredDays(sql, searched, span),
    searched,
    apps: apps.map(({ seenAt, releasedAt, ...app }) => ({
      ...app,
      measuredAt: seenAt.toISOString(),
      releasedAt: releasedAt?.toISOString() ?? null,
    })),
  }
  return apps.length > 0 ? answer : nothing(answer)
})
