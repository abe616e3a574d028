import * as v from "valibot"
import type { Platform } from "../../core/observation/provenance.ts"
import { type Context, operation } from "../../core/operation.ts"
import { READING_DEADLINE_MS, READING_FAULTS, readOnRequest } from "../../core/read-on-request.ts"
import type { Sql } from "../../database/types.ts"
import { Fault } from "../../lib/faults.ts"
import { described, named } from "../../lib/schema.ts"
import { type PageReading, readLatestPage } from "../../listings/read/store-pages.ts"
import { Count, Origin, Source, StarCounts, Store, Storefront, Time } from "../../tracking/shapes.ts"
import { type AppFacts, readAppFacts, readStorefronts } from "../read/app.ts"
import { MarketCountry, platformOfChecked, StoreAppId } from "./inputs.ts"
import { marketAppFields } from "./market-apps.ts"
import { readNow } from "./read-now.ts"

/** Prices and ratings of followed apps are read daily. */
const KEPT_DAYS = 1
/** The rest of the page changes less often. */
const PAGE_KEPT_DAYS = 7
const PAGE = "apple-app-page"

const Text = v.nullable(v.string())

const Extras = named(
  "MarketListingExtras",
  v.strictObject({
    measuredAt: described(
      v.nullable(Time),
      "Time of the page's latest reading. Null if not read; all else is then unknown.",
    ),
    origin: Origin,
    languages: described(v.nullable(v.array(v.string())), "Names on the page. Null if unknown."),
    size: described(Text, "Size as written on the page. Null if unknown."),
    minimumOs: described(Text, "Minimum version of the operating system. Null if unknown."),
    ageRating: described(Text, "Age rating as written on the page. Null if unknown."),
    promotionalText: described(Text, "Null if not shown."),
    inAppPurchases: described(
      v.nullable(
        v.array(
          v.strictObject({
            name: v.string(),
            price: described(Text, "Price as written on the page. Null if not shown."),
          }),
        ),
      ),
      "In-app purchases named on the page. Null if none are named.",
    ),
  }),
)

export const hiveGetApp = operation({
  id: "hive_get_app",
  method: "GET",
  path: "/hive/apps/:id",
  group: "Hive",
  toolset: "hive",
  summary: "Returns any app's store data: ratings, price, version and page.",
  description:
    `Read on request and cached for ${KEPT_DAYS} day (the page for ${PAGE_KEPT_DAYS}). hive_resolve_app finds ` +
    "ids; for your own apps, get_store_page is cheaper. Unknown values are null, never 0.",
  effect: "measures",
  scope: "hive:read",
  hive: "pack",
  price: 10,
  faults: READING_FAULTS,
  deadlineMs: READING_DEADLINE_MS,
  appInput: "id",
  input: v.strictObject({ id: StoreAppId, country: MarketCountry }),
  output: v.strictObject({
    ...marketAppFields,
    platform: Store,
    country: Storefront,
    storefronts: described(v.array(Storefront), "Storefronts where a look-up found it."),
    available: described(
      v.nullable(v.boolean()),
      "False if the store does not sell it there; the other fields then have earlier values. Null if not looked " +
        "up there.",
    ),
    version: described(Text, "Null if unknown."),
    price: described(v.nullable(v.number()), "In units of the currency; 0 means free. Null if unknown."),
    currency: described(Text, "ISO 4217 code. Null if unknown."),
    genre: described(Text, "The store's genre id. Null if unknown."),
    releasedAt: described(v.nullable(Time), "First release in the store. Null if unknown."),
    updatedAt: described(v.nullable(Time), "Null if unknown."),
    measuredAt: described(
      v.nullable(Time),
      "Time of the latest look-up there, for the fields from available to updatedAt. Null if not looked up.",
    ),
    source: described(v.nullable(Source), "Source of the look-up."),
    origin: Origin,
    languages: described(
      v.nullable(v.array(v.string())),
      "Languages of the app in the store, as two-letter codes. Null if unknown. listingExtras has the names on " +
        "the page.",
    ),
    sizeBytes: described(v.nullable(Count), "Size of the app. Null if unknown."),
    builtAt: described(
      v.nullable(Time),
      "Time of the latest look-up of these two fields in any storefront. They are the same in all.",
    ),
    builtSource: described(v.nullable(Source), "Source of these two fields."),
    builtOrigin: Origin,
    ratings: described(v.nullable(Count), "Number of ratings in that storefront. Null if not measured."),
    rating: described(v.nullable(v.number()), "Average rating, 0 to 5. Null if there is none or it was not measured."),
    ratingsAt: described(v.nullable(Time), "Time of the reading of these two fields."),
    ratingsSource: described(v.nullable(Source), "Source of these two fields."),
    ratingsOrigin: Origin,
    distribution: described(
      v.nullable(StarCounts),
      "Ratings by number of stars, which do not always add up to ratings. Null if not measured.",
    ),
    distributionAt: described(v.nullable(Time), "Null if distribution is null."),
    distributionSource: described(v.nullable(Source), "Null if distribution is null."),
    distributionOrigin: Origin,
    badge: described(
      v.nullable(v.boolean()),
      "True if the App Store page shows an editors' card (a story or a collection), as of " +
        "listingExtras.measuredAt. Null if the page was not read.",
    ),
    inAppPurchaseCount: described(
      v.nullable(Count),
      "Number of in-app purchases named on the App Store page. 0 if it says that there are none. Null if unknown.",
    ),
    listingExtras: v.optional(described(Extras, "Further details of the page, App Store only.")),
  }),
}).run(async ({ id, country }, ctx) => {
  const storeApp = { platform: platformOfChecked(id), id }
  const wanted = { kind: "app", platform: storeApp.platform, storefront: country, subject: id } as const
  const page = storeApp.platform === "ios" ? readPage(ctx, id, country) : null
  const elsewhere = async () => elsewhereDetail(await readStorefronts(ctx.sql, storeApp))
  return await readNow(ctx, { wanted, keptDays: KEPT_DAYS, elsewhere }, async () => {
    await page
    const facts = await readAppFacts(ctx.sql, storeApp, country)
    return facts && (facts.looked || facts.counts)
      ? await readAppAnswer(ctx.sql, facts, { ...storeApp, country })
      : null
  })
})

/**
 * Reads the store page if the stored reading is too old. If that read fails, the answer omits the fields of the page.
 */
async function readPage(ctx: Context, id: string, storefront: string): Promise<void> {
  const wanted = { kind: "listing", platform: "ios", storefront, subject: id } as const
  await readOnRequest(ctx, wanted, { keptDays: PAGE_KEPT_DAYS }).catch((error) => {
    if (!(error instanceof Fault)) throw error
  })
}

function elsewhereDetail(storefronts: readonly string[]): string | null {
  return storefronts.length > 0 ? `Storefronts that have it, for country: ${storefronts.join(", ")}.` : null
}

async function readAppAnswer(
  sql: Sql,
  { app, name, publisher, publisherId, looked, built, counts, byStar }: AppFacts,
  { platform, id, country }: { platform: Platform; id: string; country: string },
) {
  const page = platform === "ios" ? await readLatestPage(sql, app, country, [PAGE]) : undefined
  const [five, four, three, two, one] = byStar?.stars ?? []
  return {
    id,
    name: name ?? id,
    publisher,
    publisherId,
    platform,
    country,
    storefronts: await readStorefronts(sql, { platform, id }),
    available: looked?.available ?? null,
    version: looked?.version ?? null,
    price: looked?.price ?? null,
    currency: looked?.currency ?? null,
    genre: looked?.genre ?? null,
    releasedAt: iso(looked?.releasedAt),
    updatedAt: iso(looked?.updatedAt),
    measuredAt: iso(looked?.measuredAt),
    source: looked?.source ?? null,
    origin: looked?.origin ?? null,
    languages: built?.languages ?? null,
    sizeBytes: built?.sizeBytes ?? null,
    builtAt: iso(built?.builtAt),
    builtSource: built?.builtSource ?? null,
    builtOrigin: built?.builtOrigin ?? null,
    ratings: counts?.ratings ?? null,
    rating: counts?.rating ?? null,
    ratingsAt: iso(counts?.ratingsAt),
    ratingsSource: counts?.ratingsSource ?? null,
    ratingsOrigin: counts?.ratingsOrigin ?? null,
    distribution: byStar && { "1": one!, "2": two!, "3": three!, "4": four!, "5": five! },
    distributionAt: iso(byStar?.distributionAt),
    distributionSource: byStar?.distributionSource ?? null,
    distributionOrigin: byStar?.distributionOrigin ?? null,
    badge: page?.hasEditorial ?? null,
    inAppPurchaseCount: purchasesOn(page),
    ...(platform === "ios" && { listingExtras: extrasOf(page) }),
  }
}

/** Formats a timestamp as JSON does. */
function iso(moment: string | null | undefined): string | null {
  return moment ? new Date(moment).toISOString() : null
}

function purchasesOn(reading: PageReading | undefined): number | null {
  if (!reading) return null
  const { inAppPurchases, hasInAppPurchases } = reading.page
  return inAppPurchases?.length ?? (hasInAppPurchases === false ? 0 : null)
}

function extrasOf(reading: PageReading | undefined) {
  const { languages = null, size = null, minimumOs = null, ageRating = null } = reading?.page ?? {}
  const { promotionalText = null, inAppPurchases } = reading?.page ?? {}
  return {
    measuredAt: reading?.seenAt.toISOString() ?? null,
    origin: reading?.origin ?? null,
    languages,
    size,
    minimumOs,
    ageRating,
    promotionalText,
    inAppPurchases: inAppPurchases?.map(({ name, price = null }) => ({ name, price })) ?? null,
  }
}
