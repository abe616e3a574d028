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
    measuredAt: described(v.nullable(Time), "When the page was read last; null = not yet: nothing here is known."),
    origin: Origin,
    languages: described(v.nullable(v.array(v.string())), "As the page names them; null = not said."),
    size: described(Text, "As written; null = not said."),
    minimumOs: described(Text, "The lowest version of the phone's system; null = not said."),
    ageRating: described(Text, "As written; null = not said."),
    promotionalText: described(Text, "Null = the page shows none."),
    inAppPurchases: described(
      v.nullable(
        v.array(v.strictObject({ name: v.string(), price: described(Text, "As written; null = not shown.") })),
      ),
      "Those that the page names; null = it names none.",
    ),
  }),
)

export const hiveGetApp = operation({
  id: "hive_get_app",
  method: "GET",
  path: "/hive/apps/:id",
  group: "Hive",
  toolset: "hive",
  summary: "What a store says of any app: ratings, price, version, page.",
  description: `Read when it is asked for, and kept ${KEPT_DAYS} day (the page ${PAGE_KEPT_DAYS}). hive_resolve_app finds an id; get_store_page is cheaper for an app of yours. What is not known is null, never 0.`,
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
    storefronts: described(v.array(Storefront), "Where a look-up found it, of those in which it was looked up."),
    available: described(
      v.nullable(v.boolean()),
      "False = the store does not sell it there: what stands beside is of before. Null = not looked up there.",
    ),
    version: described(Text, "Null = not said."),
    price: described(v.nullable(v.number()), "In the currency's units, 0 = free; null = not said."),
    currency: described(Text, "ISO 4217; null = not said."),
    genre: described(Text, "The store's own id; null = not said."),
    releasedAt: described(v.nullable(Time), "When it first came to the store; null = not said."),
    updatedAt: described(v.nullable(Time), "Null = not said."),
    measuredAt: described(
      v.nullable(Time),
      "When it was looked up there last: of available to updatedAt. Null = it was not.",
    ),
    source: described(v.nullable(Source), "Who looked it up."),
    origin: Origin,
    languages: described(
      v.nullable(v.array(v.string())),
      "Those that the store names of the app, as codes of two letters; null = not said. Its page's names: listingExtras.",
    ),
    sizeBytes: described(v.nullable(Count), "How large it is; null = not said."),
    builtAt: described(
      v.nullable(Time),
      "Of these two, which are the same in all storefronts: when a look-up in any of them said them last.",
    ),
    builtSource: described(v.nullable(Source), "Of these two."),
    builtOrigin: Origin,
    ratings: described(v.nullable(Count), "How many ratings in that storefront; null = not measured."),
    rating: described(v.nullable(v.number()), "The average, 0 to 5; null = none, or not measured."),
    ratingsAt: described(v.nullable(Time), "Of these two."),
    ratingsSource: described(v.nullable(Source), "Of these two."),
    ratingsOrigin: Origin,
    distribution: described(
      v.nullable(StarCounts),
      "Ratings by their stars, which do not always add up to ratings; null = not measured.",
    ),
    distributionAt: described(v.nullable(Time), "Null where distribution is."),
    distributionSource: described(v.nullable(Source), "Null where distribution is."),
    distributionOrigin: Origin,
    badge: described(
      v.nullable(v.boolean()),
      "The App Store's page shows a card of the store's editors (a story or a collection); as of listingExtras.measuredAt, null = no page was read.",
    ),
    inAppPurchaseCount: described(
      v.nullable(Count),
      "As many as the App Store's page names; 0 = it says that there are none; null = not said.",
    ),
    listingExtras: v.optional(described(Extras, "App Store alone: what its page says beside.")),
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

/** Reads the store page if the stored reading is too old. If that fails, the answer omits the page's fields. */
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
    ...{ id, name: name ?? id, publisher, publisherId, platform, country },
    storefronts: await readStorefronts(sql, { platform, id }),
    ...{ available: looked?.available ?? null, version: looked?.version ?? null, price: looked?.price ?? null },
    ...{ currency: looked?.currency ?? null, genre: looked?.genre ?? null, releasedAt: iso(looked?.releasedAt) },
    ...{ updatedAt: iso(looked?.updatedAt), measuredAt: iso(looked?.measuredAt), source: looked?.source ?? null },
    origin: looked?.origin ?? null,
    ...{ languages: built?.languages ?? null, sizeBytes: built?.sizeBytes ?? null },
    ...{ builtAt: iso(built?.builtAt), builtSource: built?.builtSource ?? null },
    builtOrigin: built?.builtOrigin ?? null,
    ...{ ratings: counts?.ratings ?? null, rating: counts?.rating ?? null },
    ...{ ratingsAt: iso(counts?.ratingsAt), ratingsSource: counts?.ratingsSource ?? null },
    ratingsOrigin: counts?.ratingsOrigin ?? null,
    distribution: byStar && { "1": one!, "2": two!, "3": three!, "4": four!, "5": five! },
    ...{ distributionAt: iso(byStar?.distributionAt), distributionSource: byStar?.distributionSource ?? null },
    distributionOrigin: byStar?.distributionOrigin ?? null,
    ...{ badge: page?.hasEditorial ?? null, inAppPurchaseCount: purchasesOn(page) },
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
    ...{
      measuredAt: reading?.seenAt.toISOString() ?? null,
      origin: reading?.origin ?? null,
      languages,
      size,
      minimumOs,
      ageRating,
      promotionalText,
    },
    inAppPurchases: inAppPurchases?.map(({ name, price = null }) => ({ name, price })) ?? null,
  }
}
