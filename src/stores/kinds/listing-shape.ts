import * as v from "valibot"
import type { ObservationOf } from "../../core/kind.ts"
import { checkFacts, isDate, isInOrder } from "../../core/observation/app-facts.ts"
import { addressProblem, checkIds, checkText, hold } from "../../core/observation/invariants.ts"
import {
  Fact,
  Figure,
  Flag,
  ListingExtras,
  list,
  Moment,
  Priced,
  StarCounts,
  Text,
  Whole,
} from "../../core/observation/line-parts.ts"
import type { StoreObservation } from "../../core/observation/provenance.ts"
import { ruleBy } from "../../core/observation/shape.ts"
import { checkApp } from "../../measuring/record/check-app.ts"

/** Sources of listings. */
export const LISTING_SOURCES = ["apple-app-page", "itunes-lookup", "play-details"] as const

const InAppPurchase = v.strictObject({
  name: Text,
  /** The page's own text: "$4.99". */
  price: Fact,
})
export type InAppPurchase = v.InferOutput<typeof InAppPurchase>

const InAppEvent = v.strictObject({
  id: Text,
  title: Text,
  /** The page's label of the event type: "Major Update". */
  kind: Fact,
  text: Fact,
  startsAt: v.optional(Moment),
  endsAt: v.optional(Moment),
})
export type InAppEvent = v.InferOutput<typeof InAppEvent>

const EditorialCard = v.strictObject({
  id: Text,
  kind: v.picklist(["story", "collection"], "must be story or collection"),
  title: Fact,
})
export type EditorialCard = v.InferOutput<typeof EditorialCard>

/**
 * A missing field is not shown on the page. A list is empty only when the page has the section. Texts are unchanged.
 */
const Listing = v.strictObject({
  ...ListingExtras.entries,
  ...Priced,
  name: v.pipe(
    Text,
    ruleBy((name) => checkText(name, LONGEST, "the name of a listing")),
  ),
  promotionalText: Fact,
  bundleId: Fact,
  developer: Fact,
  developerId: Fact,
  icon: Fact,
  /** Names of languages in the page's language and order. */
  languages: v.optional(list(Text)),
  /** The page's own text: "245.3 MB". */
  size: Fact,
  hasInAppPurchases: v.optional(Flag),
  inAppPurchases: v.optional(list(InAppPurchase)),
  version: Fact,
  /** The store's date of the latest update. */
  updatedAt: v.optional(Moment),
  rating: v.optional(Figure),
  ratings: v.optional(Whole),
  /** Number of ratings with five, four, three, two and one stars. Apple's numbers do not always add up to `ratings`. */
  ratingsByStar: v.optional(StarCounts),
  events: v.optional(list(InAppEvent)),
  /** The editors' stories and collections that contain the app, according to its page. */
  editorial: v.optional(list(EditorialCard)),
})
export type Listing = v.InferOutput<typeof Listing>

export const shape = v.strictObject({
  id: v.pipe(
    Text,
    ruleBy((id, { platform }) => checkIds(platform, [id], "listings")),
  ),
  listing: v.pipe(
    Listing,
    ruleBy((listing, seen) => checkParts(seen, listing)),
    ruleBy(({ rating, ratings, price, currency, ratingsByStar, icon, developerId }, { seenAt }) =>
      checkFacts({ rating, ratings, price, currency, ratingsByStar, icon, developerId }, seenAt),
    ),
  ),
})

// Sanity limits. Apple's own limits are far lower; a page has some hundreds of versions.
const LONGEST = 200_000
const MAX_ITEMS = 5_000

/** Throws ObservationProblem when a part of a listing cannot be stored. */
export function checkParts(page: Page, parts: Partial<Listing>): void {
  checkStorable(parts)
  checkNeighbours(page, parts.similar ?? [], "similar apps")
  checkNeighbours(page, parts.moreByDeveloper ?? [], "apps of the developer")
  for (const address of Object.values(parts.screenshots ?? {}).flat()) {
    const problem = addressProblem(address)
    hold(problem === null, "bad_text", `a screenshot ${problem}`)
  }
  hold((parts.events ?? []).every(isInOrder), "bad_time", "an event must not end before it begins")
}

type Page = Pick<StoreObservation, "platform" | "seenAt">

/** Rejects empty or unstorable texts, overlong lists and invalid dates, at any depth. */
function checkStorable(value: unknown): void {
  if (typeof value === "string") checkText(value, LONGEST, "a text of a listing")
  if (value instanceof Date) hold(isDate(value), "bad_time", "a time of a listing must be a valid time")
  if (Array.isArray(value)) hold(value.length <= MAX_ITEMS, "too_many_results", "a list of a listing is too long")
  if (typeof value === "object" && value !== null) for (const part of Object.values(value)) checkStorable(part)
}

function checkNeighbours({ platform, seenAt }: Page, apps: NonNullable<Listing["similar"]>, what: string): void {
  checkIds(
    platform,
    apps.map(({ id }) => id),
    what,
  )
  for (const app of apps) checkApp(app, seenAt)
}

export type ListingObservation = ObservationOf<"listing", (typeof LISTING_SOURCES)[number], typeof shape>

export interface ListingQuestion {
  storefront: string
  id: string
}
