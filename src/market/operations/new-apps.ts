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
    firstSeen: described(Day, "The first day on which a chart of that storefront showed it."),
    country: Storefront,
    device: described(v.picklist(DEVICES), "Of a chart on which it was seen that day."),
    kind: described(v.picklist(CHARTS), "Of that chart."),
    genre: described(v.string(), "Of that chart: the App Store's id, 36 = all apps."),
    rank: described(Rank, "Its place on that chart that day."),
    measuredAt: described(Time, "When it was seen there."),
    source: Source,
    origin: Origin,
    releasedAt: described(
      v.nullable(Time),
      "When it first came to the store, as a look-up said; null = not said. Long before firstSeen: an old app that climbed.",
    ),
  }),
)

export const hiveListNewApps = operation({
  id: "hive_list_new_apps",
  method: "GET",
  path: "/hive/new",
  group: "Hive",
  toolset: "hive",
  summary: "Apps that the top charts of the App Store showed for the first time.",
  description: "Nobody is new on a list's first day. Without country each app once.",
  effect: "reads",
  scope: "hive:read",
  hive: "pack",
  price: 10,
  faults: [],
  input: v.strictObject({
    days: v.optional(wholeNumber(1, 30, `So many UTC days up to today; ${DAYS} when left out.`, "bad_days")),
    country: described(v.optional(Country), "Two-letter storefront code; all when left out."),
    limit: v.optional(wholeNumber(1, 200, `The most apps; ${LIMIT} when left out.`, "invalid_arguments")),
  }),
  narrow: { rows: ["apps"] },
  table: "apps",
  output: v.strictObject({
    country: described(v.nullable(Storefront), "As asked; null = all."),
    platform: described(Store, "Always ios: of Google Play there is no chart data."),
    days: described(Rank, "How many days were asked for."),
    from: described(Day, "The first of them."),
    to: described(Day, "Today."),
    daysCovered: described(
      Count,
      "On how many of them a chart was read, the storefront's first day left out: what was new on the others is not known.",
    ),
    searched: described(v.array(Storefront), "Storefronts asked for of which charts were ever read."),
    apps: described(
      v.array(NewApp),
      "Newest first, of one day the highest id first. Who stood on any list the first time that it was read, that day or before, is not among them: of that storefront, or of all of them without country.",
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
    ...{ country: country ?? null, platform: "ios" as const, days, ...span },
    ...{ daysCovered: await countCoveredDays(sql, searched, span), searched },
    apps: apps.map(({ seenAt, releasedAt, ...app }) => ({
      ...app,
      ...{ measuredAt: seenAt.toISOString(), releasedAt: releasedAt?.toISOString() ?? null },
    })),
  }
  return apps.length > 0 ? answer : nothing(answer)
})
