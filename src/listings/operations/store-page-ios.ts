import * as v from "valibot"
import { ownId } from "../../core/ranked-app.ts"
import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Sql } from "../../database/types.ts"
import { described, extending, named } from "../../lib/schema.ts"
import { appPage } from "../../lib/store-pages.ts"
import { Count, Time } from "../../tracking/shapes.ts"
import {
  NO_SHELVES,
  type Placement,
  readPlacements,
  readSimilarShelves,
  type ShelfOwner,
  type Shelves,
} from "../read/placements.ts"
import { type LatestCounts, NO_PAGE, type PageParts, type PageReading, readPageParts } from "../read/store-pages.ts"
import { CardShape, cardShape, EventShape, eventShape, goesOn, isCard, shelfShape } from "./listing-shapes.ts"
import {
  countShape,
  pageFields,
  pageShape,
  StorePage,
  shownFields,
  starsFields,
  starsShape,
} from "./store-page-shapes.ts"

/** Number of languages in responses on the Free plan. */
const FREE_LANGUAGES = 5

const WITHHELD = ["events", "promotionalText", "inAppPurchases"] as const
const LOCKABLE = ["languages", ...WITHHELD] as const

const Extras = v.strictObject({
  measuredAt: described(
    v.nullable(Time),
    "Time of the page's latest reading. Null if never read; all else is then unknown.",
  ),
  languageCount: described(v.nullable(Count), "Null if unknown."),
  languages: described(
    v.nullable(v.array(v.string())),
    `Names on the page, in order; on the Free plan the first ${FREE_LANGUAGES}. Null if unknown.`,
  ),
  ...starsFields,
  events: described(
    v.nullable(v.array(EventShape)),
    "In-app events that are live or start later. Null if the page shows no events or they are locked.",
  ),
  promotionalText: described(v.nullable(v.string()), "Null if not shown or locked."),
  inAppPurchases: described(
    v.nullable(
      v.array(
        v.strictObject({
          name: described(v.string(), "Name on the page."),
          price: described(v.nullable(v.string()), "Price as written on the page. Null if not shown."),
        }),
      ),
    ),
    "In-app purchases named on the page. Null if none are named or they are locked.",
  ),
  locked: described(
    v.nullable(Count),
    "Number of further languages that the plan hides. 0 on the Pro plan and above. Null if never measured.",
  ),
  withheld: described(
    v.nullable(
      v.strictObject({
        events: described(Count, "In-app events."),
        promotionalText: described(Count, "1 if the page shows one."),
        inAppPurchases: described(Count, "In-app purchases named on the page."),
      }),
    ),
    "Number of other entries that the plan hides. All 0 on the Pro plan and above. Null if never measured.",
  ),
  lockedParts: described(
    v.array(v.picklist(LOCKABLE)),
    "Parts that the plan hides: languages from the sixth on, other parts completely.",
  ),
})

export const IosPage = named(
  "IosStorePage",
  extending(
    StorePage,
    v.strictObject({
      ...pageFields,
      size: described(v.nullable(v.string()), "Size as written on the page. Null if not shown."),
      minimumOs: described(v.nullable(v.string()), "Minimum version of the operating system. Null if not shown."),
      screenshotsPhone: described(
        v.nullable(v.array(v.string())),
        "URLs in the order shown. Null if the page has no row for this device; empty if the row is empty.",
      ),
      screenshotsPad: described(v.nullable(v.array(v.string())), "Like screenshotsPhone."),
      eventsLive: described(
        v.nullable(Count),
        "In-app events that are live according to the latest page. Null if the page has no event section or was " +
          "never read.",
      ),
      eventsScheduled: described(
        v.nullable(Count),
        "In-app events that start later. Null whenever eventsLive is null.",
      ),
      editorial: described(
        v.nullable(v.array(CardShape)),
        "Stories and collections of the store's editors on the latest page. Null if the page has no such cards or " +
          "was never read.",
      ),
      ...shownFields,
      listingExtras: described(Extras, "More details of the page. On the Free plan, only a part (see locked)."),
    }),
  ),
)

interface IosPageQuery {
  storefront: string
  /** The first UTC day of the plan's history. */
  since: string
  now: Date
  free: boolean
}

interface IosPageFacts extends PageParts {
  shown: readonly Placement[]
  shelves: Shelves
}

/** Returns the latest reading of the app's App Store page. Null if the app is not on the App Store. */
export async function readIosPage(
  sql: Sql,
  app: TrackedApp,
  query: IosPageQuery,
): Promise<v.InferInput<typeof IosPage> | null> {
  if (app.iosApp === null || app.iosId === null) return null
  const { storefront } = query
  const owner = { appId: app.iosApp, countries: app.countries }
  const read = ownId(app, { platform: "ios", storefront }) === null ? UNREAD : await readPage(sql, owner, query)
  const { looked, page, release, shown, shelves, counts } = read
  const content = page?.page
  const events = shown.filter((placement) => goesOn(placement, query.now)).map((event) => eventShape(event, query.now))
  const similarAt = shelves.readAt.get(storefront)
  return {
    storeId: app.iosId,
    url: appPage("ios", app.iosId, storefront),
    ...pageShape({ looked, page, release }),
    size: content?.size ?? null,
    minimumOs: content?.minimumOs ?? null,
    screenshotsPhone: content?.screenshots?.phone ?? null,
    screenshotsPad: content?.screenshots?.pad ?? null,
    eventsLive: content?.events ? events.filter(({ state }) => state === "live").length : null,
    eventsScheduled: content?.events ? events.filter(({ state }) => state === "scheduled").length : null,
    editorial: content?.editorial ? shown.filter(isCard).map(cardShape) : null,
    similarAt: similarAt?.toISOString() ?? null,
    similar: similarAt ? shelves.apps.map(shelfShape) : null,
    ...countShape(counts),
    listingExtras: extrasOf({ page, counts, events: content?.events ? events : null }, query.free),
  }
}

const UNREAD: IosPageFacts = { ...NO_PAGE, shown: [], shelves: NO_SHELVES }

async function readPage(
  sql: Sql,
  app: Omit<ShelfOwner, "platform">,
  { storefront, since }: IosPageQuery,
): Promise<IosPageFacts> {
  const { appId } = app
  const [parts, { placements }, shelves] = await Promise.all([
    readPageParts(sql, appId, "ios", storefront),
    readPlacements(sql, appId, [storefront], since),
    readSimilarShelves(sql, { platform: "ios", ...app }, [storefront]),
  ])
  return { ...parts, shown: placements.filter(({ shown }) => shown), shelves }
}

interface PageExtras {
  page: PageReading | undefined
  counts: LatestCounts
  events: v.InferInput<typeof EventShape>[] | null
}

function extrasOf({ page, counts, events }: PageExtras, free: boolean): v.InferInput<typeof Extras> {
  const { languages = null, promotionalText = null, inAppPurchases = null } = page?.page ?? {}
  const remain = {
    languages: Math.max(0, (languages?.length ?? 0) - FREE_LANGUAGES),
    events: events?.length ?? 0,
    promotionalText: promotionalText === null ? 0 : 1,
    inAppPurchases: inAppPurchases?.length ?? 0,
  }
  const lockedParts = free ? LOCKABLE.filter((part) => remain[part] > 0) : []
  const purchases = inAppPurchases?.map(({ name, price = null }) => ({ name, price })) ?? null
  return {
    measuredAt: page?.seenAt.toISOString() ?? null,
    languageCount: languages?.length ?? null,
    languages: free ? (languages?.slice(0, FREE_LANGUAGES) ?? null) : languages,
    ...starsShape(counts),
    events: free ? null : events,
    promotionalText: free ? null : promotionalText,
    inAppPurchases: free ? null : purchases,
    locked: page ? (free ? remain.languages : 0) : null,
    withheld: page ? withheldOf(remain, free) : null,
    lockedParts,
  }
}

type WithheldCounts = Record<(typeof WITHHELD)[number], number>

function withheldOf({ events, promotionalText, inAppPurchases }: WithheldCounts, free: boolean): WithheldCounts {
  return free ? { events, promotionalText, inAppPurchases } : { events: 0, promotionalText: 0, inAppPurchases: 0 }
}
