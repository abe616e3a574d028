import * as v from "valibot"
import type { Side } from "../../core/observation/provenance.ts"
import { type Context, operation } from "../../core/operation.ts"
import { deadlineOf, READING_FAULTS, retainedSince, WAIT_MS } from "../../core/read-on-request.ts"
import type { Sql } from "../../database/types.ts"
import { type OwnReading, readOwn } from "../../keywords/read/own-reading.ts"
import { Fault } from "../../lib/faults.ts"
import { Term } from "../../lib/fields.ts"
import { valueAt } from "../../lib/objects.ts"
import { coded, described, named } from "../../lib/schema.ts"
import { LOOKUP_SOURCES } from "../../stores/kinds/apps-shape.ts"
import { Origin, Rank, RankSource, Store, Storefront, Time } from "../../tracking/shapes.ts"
import { MarketCountry, platformOf, platformOfChecked, refuseOtherLink, StoreAppLink, storeIdIn } from "./inputs.ts"
import { findBundle, findStoreApp, marketAppFields, readMarketApps } from "./market-apps.ts"
import { readNow } from "./read-now.ts"

/** How long a call waits for the store's search. */
const SEARCH_WAIT_MS = 8_000
const KEPT_DAYS = 1 / 24
/** Whether a store sells an app rarely changes. */
const SOLD_KEPT_DAYS = 1
const ABOVE = 5
const TOP = 10

const Place = named("MarketPlace", v.strictObject({ rank: Rank, ...marketAppFields }))

export const checkRank = operation({
  id: "check_rank",
  method: "GET",
  path: "/rank-check",
  group: "Hive",
  toolset: "hive",
  summary: "Returns any app's current rank for any keyword, tracked or not.",
  description:
    "Searches the store unless this instance did so within an hour. list_keyword_ranks has tracked keywords, " +
    "hive_get_keyword_ranks earlier days.",
  effect: "measures",
  scope: "hive:read",
  hive: "pack",
  price: 10,
  faults: [...READING_FAULTS, "hive_read_failed"],
  deadlineMs: deadlineOf(SEARCH_WAIT_MS, WAIT_MS),
  names: "app",
  appInput: "app",
  input: v.strictObject({
    app: StoreAppLink,
    term: Term,
    cc: MarketCountry,
    platform: v.optional(
      coded(v.pipe(v.picklist(["ios", "android"]), v.description("Default: detected from app.")), "invalid_arguments"),
    ),
  }),
  refine(input) {
    refuseOtherLink(input.app, { code: "bad_app_id", field: "app" })
    return { ...input, app: storeIdIn(input.app)! }
  },
  output: v.strictObject({
    app: described(v.strictObject(marketAppFields), "The app."),
    term: described(v.string(), "The normalised keyword."),
    country: Storefront,
    platform: Store,
    state: described(
      v.picklist(["ranked", "absent", "not_in_store"]),
      "absent: sold there, but not among the results read; not_in_store: not sold there.",
    ),
    rank: described(v.nullable(Rank), "Null unless state is ranked."),
    above: described(
      v.nullable(v.array(Place)),
      `Up to ${ABOVE} apps just above it, by rank. Null unless state is ranked.`,
    ),
    top: described(v.nullable(v.array(Place)), `The first ${TOP} results. Null if state is ranked.`),
    depth: described(Rank, "Number of places read."),
    source: RankSource,
    origin: Origin,
    measuredAt: described(Time, "Time of the store's response."),
    egress: described(v.nullable(Storefront), "Country of the request's origin. Null if unknown."),
    sha256: described(v.string(), "Hash of the store's response, as evidence."),
  }),
}).run(async ({ app, term, cc: storefront, platform: requested }, ctx) => {
  const id = await storeIdMeant(ctx.sql, app, requested)
  const platform = platformOfChecked(id)
  if (requested && requested !== platform)
    throw new Fault("invalid_arguments", { field: "platform", detail: otherStore(platform) })
  const search = { kind: "search", platform, storefront, subject: term } as const
  return await readNow(ctx, { wanted: search, keptDays: KEPT_DAYS, waitMs: SEARCH_WAIT_MS, live: true }, async () => {
    const reading = await readOwn(ctx.sql, { platform, storefront, term }, retainedSince(ctx.now(), KEPT_DAYS))
    return reading && (await standingOf(ctx, { platform, storefront, id }, { ...reading, term }))
  })
})

/**
 * Resolves a package name that is also the bundle id of an App Store app. Returns the id of that app if the App Store
 * is requested, or if no store is requested and Google Play has no such app.
 */
async function storeIdMeant(sql: Sql, id: string, requested: "ios" | "android" | undefined): Promise<string> {
  if (platformOf(id) === "ios" || requested === "android") return id
  const [app, ...rest] = await findBundle(sql, id, 2)
  if (app === undefined || (requested === undefined && (await findStoreApp(sql, { platform: "android", id })) !== null))
    return id
  if (rest.length > 0)
    throw new Fault("bad_app_id", {
      field: "app",
      detail: `Several App Store apps have the bundle id ${id}. Give the App Store id instead.`,
    })
  return app.id
}

function otherStore(platform: "ios" | "android"): string {
  return `The app belongs to ${platform}. Omit platform or set it to ${platform}.`
}

interface AnyApp extends Side {
  id: string
}

interface TermReading extends OwnReading {
  term: string
}

/**
 * Returns the app's state: ranked, absent or not in the store. "Absent" requires that the store is known to sell the
 * app.
 */
async function standingOf(ctx: Context, app: AnyApp, reading: TermReading) {
  const { sql } = ctx
  const { id, platform, storefront } = app
  const appId = await findStoreApp(sql, app)
  const rank = appId === null ? 0 : reading.appIds.indexOf(appId) + 1
  if (rank > 0) {
    const { places: above, ...shown } = await readShown(sql, app, reading, [Math.max(0, rank - 1 - ABOVE), rank - 1])
    return { ...shown, state: "ranked" as const, rank, above, top: null }
  }
  const lookUp = { kind: "app", platform, storefront, subject: id } as const
  return await readNow(ctx, { wanted: lookUp, keptDays: SOLD_KEPT_DAYS }, async () => {
    const sold = await isSold(sql, app)
    if (sold === null) return null
    const { places: top, ...shown } = await readShown(sql, app, reading, [0, TOP])
    return { ...shown, state: sold ? ("absent" as const) : ("not_in_store" as const), rank: null, above: null, top }
  })
}

/** Returns the fields that all states share, and the apps from one rank to another. */
async function readShown(sql: Sql, app: AnyApp, reading: TermReading, [from, to]: [number, number]) {
  const { id, platform, storefront } = app
  const { term, depth, source, origin, seenAt, egress, sha256, appIds } = reading
  const appId = await findStoreApp(sql, app)
  const ids = appIds.slice(from, to)
  const apps = await readMarketApps(sql, appId === null ? ids : [appId, ...ids], storefront)
  return {
    app: (appId !== null && apps.get(appId)) || { id, name: id, publisher: null, publisherId: null },
    term,
    country: storefront,
    platform,
    depth,
    source,
    origin,
    measuredAt: seenAt.toISOString(),
    egress,
    sha256,
    places: ids.map((id, i) => ({ rank: from + i + 1, ...valueAt(apps, id) })),
  }
}

/** Returns the result of the latest look-up, however old. Null if there is none. */
async function isSold(sql: Sql, { platform, storefront, id }: AnyApp): Promise<boolean | null> {
  const [row] = await sql<{ available: boolean }[]>`
    select s.available
    from store_app a
    join app_storefront s on s.app_id = a.id
    where (a.platform, a.store_id) = (${platform}, ${id}) and s.storefront = ${storefront}
      and s.source = any(${LOOKUP_SOURCES as string[]}::text[])
    order by s.seen_at desc, s.source
    limit 1`
  return row?.available ?? null
}
