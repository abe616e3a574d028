import * as v from "valibot"
import { Source } from "../../charts/operations/charts.ts"
import { nothing, operation } from "../../core/operation.ts"
import { READING_DEADLINE_MS, READING_FAULTS } from "../../core/read-on-request.ts"
import type { Sql } from "../../database/types.ts"
import { CHARTS, DEVICES } from "../../lib/charts.ts"
import { Fault } from "../../lib/faults.ts"
import { valueAt } from "../../lib/objects.ts"
import { described, named } from "../../lib/schema.ts"
import { Count, Day, Origin, Rank, Store, Storefront, Time } from "../../tracking/shapes.ts"
import {
  type ChartedApp,
  findBestStorefront,
  readChartedApps,
  readPublisher,
  readUnnamedStorefronts,
} from "../read/publishers.ts"
import { readMarketApps } from "./market-apps.ts"
import { readNow } from "./read-now.ts"

const KEPT_DAYS = 7
/** Storefront that is preferred for names, and the one that is read for a publisher without charted apps. */
const FIRST = "us"
const IDS = /^[1-9]\d{0,15}$/

const FirstSeen = described(
  v.nullable(Day),
  "First day on a chart. Null if unknown because it was on the first reading.",
)

const Charted = named(
  "ChartedApp",
  v.strictObject({
    id: described(v.string(), "App Store id."),
    name: described(v.string(), "Name in the United States, else in another storefront, else the id."),
    rank: described(Rank, "Best rank on the latest reading of any chart."),
    country: Storefront,
    device: described(v.picklist(DEVICES), "Device of that chart."),
    kind: described(v.picklist(CHARTS), "Kind of that chart."),
    genre: described(v.string(), "Genre of that chart: the App Store's id, 36 means all apps."),
    day: described(Day, "Day of that chart's latest reading."),
    measuredAt: described(Time, "Time of that reading."),
    source: Source,
    origin: Origin,
    firstSeen: FirstSeen,
    storefronts: described(
      v.array(v.strictObject({ country: Storefront, rank: Rank, day: Day, firstSeen: FirstSeen })),
      "Best rank in each storefront, best first.",
    ),
  }),
)

export const hiveGetPublisher = operation({
  id: "hive_get_publisher",
  method: "GET",
  path: "/hive/publisher/:publisherId",
  group: "Hive",
  toolset: "hive",
  summary: "Lists every app of a publisher on the App Store's top charts.",
  description:
    "Covers all charts read by this instance, in every storefront, with each app's best rank and first day. Other " +
    "hive_ tools return the publisherId.",
  effect: "measures",
  scope: "hive:read",
  hive: "pack",
  price: 10,
  faults: READING_FAULTS,
  deadlineMs: READING_DEADLINE_MS,
  input: v.strictObject({
    publisherId: v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(255),
      v.description("The App Store's id of a publisher."),
    ),
  }),
  narrow: { rows: ["apps"] },
  table: "apps",
  output: v.strictObject({
    publisherId: v.string(),
    name: described(v.nullable(v.string()), "Name in the store. Null if unknown."),
    platform: described(Store, "Always ios: Google Play publishes no charts."),
    apps: described(v.array(Charted), "Best rank first. Empty if no chart read shows an app of the publisher."),
    searched: described(
      v.array(Storefront),
      "Storefronts with charts read. Others may also have apps of the publisher.",
    ),
    shelf: described(
      v.nullable(
        v.strictObject({
          country: Storefront,
          count: described(Count, "Apps sold there, on a chart or not."),
          complete: described(v.boolean(), "False if the response had the maximum length; there may be more apps."),
          measuredAt: described(Time, "Time of the request to the store."),
        }),
      ),
      `All apps of the publisher in one storefront, read on request and cached for ${KEPT_DAYS} days. Null if not ` +
        "readable yet.",
    ),
  }),
}).run(async ({ publisherId }, ctx) => {
  if (!IDS.test(publisherId)) return nothing(new Fault("not_measured", { detail: ON_APP_STORE }))
  const country = (await findBestStorefront(ctx.sql, publisherId)) ?? FIRST
  const wanted = { kind: "developer", platform: "ios", storefront: country, subject: publisherId } as const
  const elsewhere = () => readWhyUnnamed(ctx.sql)
  return await readNow(ctx, { wanted, keptDays: KEPT_DAYS, elsewhere }, async () => {
    const [charted, { name, shelf, searched }] = await Promise.all([
      readChartedApps(ctx.sql, publisherId),
      readPublisher(ctx.sql, publisherId, country),
    ])
    if (charted.length === 0 && !shelf) return null
    const apps = await readPublisherApps(ctx.sql, charted)
    const answer = {
      publisherId,
      name,
      platform: "ios" as const,
      apps,
      searched,
      shelf: shelf && { ...shelf, measuredAt: shelf.measuredAt.toISOString() },
    }
    return apps.length > 0 ? answer : nothing(answer)
  })
})

const ON_APP_STORE = "publisherId is a number. Google Play publishes no chart data."

/**
 * Returns a sentence that lists the storefronts whose charts lack publisher ids, so that the publisher's apps cannot be
 * found there. Null if there are none.
 */
async function readWhyUnnamed(sql: Sql): Promise<string | null> {
  const storefronts = await readUnnamedStorefronts(sql)
  if (storefronts.length === 0) return null
  return `Charts of ${storefronts.join(", ")} list publishers without ids, so no publisher is found on them.`
}

async function readPublisherApps(sql: Sql, charted: readonly ChartedApp[]) {
  const byApp = Map.groupBy(charted, ({ app }) => app)
  const named = await readMarketApps(sql, [...byApp.keys()], FIRST)
  const apps = [...byApp].map(([app, [best, ...rest]]) => {
    const { id, name } = valueAt(named, app)
    const { rank, country, device, kind, genre, day, seenAt, source, origin } = best!
    const storefronts = [best!, ...rest].map(({ country, rank, day, firstSeen }) => ({
      country,
      rank,
      day,
      firstSeen,
    }))
    const reading = { day, measuredAt: seenAt.toISOString(), source, origin }
    return { id, name, rank, country, device, kind, genre, ...reading, firstSeen: earliest(storefronts), storefronts }
  })
  return apps.sort((a, b) => a.rank - b.rank || Number(a.id) - Number(b.id))
}

/** Returns the earliest of the first days. Null if the first day in any storefront is unknown. */
function earliest(storefronts: readonly { firstSeen: string | null }[]): string | null {
  const days = storefronts.map(({ firstSeen }) => firstSeen)
  return days.includes(null) ? null : (days as string[]).toSorted()[0]!
}
