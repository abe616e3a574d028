import * as v from "valibot"
import { findShelfReadLast, readShelf } from "../../charts/read/shelves.ts"
import { operation } from "../../core/operation.ts"
import { READING_DEADLINE_MS, READING_FAULTS } from "../../core/read-on-request.ts"
import type { Sql } from "../../database/types.ts"
import { CountryOrEmpty } from "../../lib/fields.ts"
import { described, named } from "../../lib/schema.ts"
import { SHELVED_BY } from "../../listings/read/placements.ts"
import { Day, Origin, Rank, Store, Storefront, Time } from "../../tracking/shapes.ts"
import { readFollowedMarket } from "../read/followed.ts"
import { platformOfChecked, StoreAppId } from "./inputs.ts"
import { marketAppFields } from "./market-apps.ts"
import { readNow } from "./read-now.ts"

/** The list of similar apps on a page changes little within a week. */
const KEPT_DAYS = 7
/** Default storefront if none is requested, stored or followed. */
const FIRST_READ = "us"

export const hiveGetSimilarApps = operation({
  id: "hive_get_similar_apps",
  method: "GET",
  path: "/hive/similar/:appId",
  group: "Hive",
  toolset: "hive",
  summary: "Returns the row of similar apps on any app's store page.",
  description:
    `In the order of the page. A page that is not tracked is read on request and cached for ${KEPT_DAYS} days. If ` +
    "the page has no such row, the list is empty.",
  effect: "measures",
  scope: "hive:read",
  hive: "pack",
  price: 10,
  faults: READING_FAULTS,
  deadlineMs: READING_DEADLINE_MS,
  appInput: "appId",
  input: v.strictObject({
    appId: StoreAppId,
    country: described(
      v.optional(CountryOrEmpty),
      "Two-letter storefront code. Default, or if empty: the newest row of any storefront.",
    ),
  }),
  table: "apps",
  output: v.strictObject({
    id: described(v.string(), "Id of the app."),
    platform: Store,
    country: described(Storefront, "Storefront of the page."),
    day: described(Day, "UTC day of the reading."),
    measuredAt: described(Time, "Time of its reading."),
    source: described(v.picklist(Object.values(SHELVED_BY)), "Source of the page."),
    origin: Origin,
    apps: described(
      v.array(named("SimilarApp", v.strictObject({ place: Rank, ...marketAppFields }))),
      "Empty if the page shows none.",
    ),
  }),
}).run(async ({ appId: id, country }, ctx) => {
  const platform = platformOfChecked(id)
  const storefront = country ?? (await findShelfReadLast(ctx.sql, { platform, id })) ?? (await findFirstRead(ctx.sql))
  const wanted = { kind: "listing", platform, storefront, subject: id } as const
  return await readNow(ctx, { wanted, keptDays: KEPT_DAYS }, () => readShelf(ctx.sql, { platform, id }, storefront))
})

/** Returns the first followed storefront. */
async function findFirstRead(sql: Sql): Promise<string> {
  const [first] = await readFollowedMarket(sql)
  return first?.storefront ?? FIRST_READ
}
