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
  summary: "The row of similar apps on any app's store page.",
  description: `In the order in which the page shows them. A page that nobody follows is read when it is asked for, and kept ${KEPT_DAYS} days. A page that was read and shows no such row is an answer: no apps.`,
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
      "Two-letter storefront code; the newest row that was read anywhere when empty or left out.",
    ),
  }),
  table: "apps",
  output: v.strictObject({
    id: described(v.string(), "The app's."),
    platform: Store,
    country: described(Storefront, "Whose page it is."),
    day: described(Day, "The UTC day on which it was read."),
    measuredAt: described(Time, "When it was read."),
    source: described(v.picklist(Object.values(SHELVED_BY)), "The page that shows it."),
    origin: Origin,
    apps: described(
      v.array(named("SimilarApp", v.strictObject({ place: Rank, ...marketAppFields }))),
      "Empty = the page was read, and shows none.",
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
