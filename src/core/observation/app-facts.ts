import { DAY_MS } from "../../lib/time.ts"
import { addressProblem, isCurrency, isText, ObservationProblem, type ProblemCode } from "./invariants.ts"
import type { ListingExtras, MarketFacts, Screenshots, StoreApp } from "./line-parts.ts"
import type { AnyObservation } from "./provenance.ts"

/**
 * A rule for facts of all sources. An import that breaks it is refused; a parser leaves out the facts in `about` (see
 * `possible`).
 */
interface Rule<Facts> {
  code: ProblemCode
  says: string
  /** The facts that are left out if the rule is broken. */
  about: readonly (keyof Facts)[]
  holds(facts: Facts, seenAt: Date): boolean
}

type AppFacts = Omit<StoreApp, "id" | "market" | "listing" | keyof BuildFacts>

/** More ratings than there are people. */
const MAX_RATINGS = 10_000_000_000
/** A hundred times the installs that any app has. */
const MAX_INSTALLS = 1_000_000_000_000
/** A thousand times the size that a store accepts. */
const MAX_BYTES = 1_000_000_000_000
/** Dates have a tolerance of one day: clocks differ, and stores write days in their own time zones. */
const APP_RULES: readonly Rule<AppFacts>[] = [
  {
    code: "bad_figure",
    says: "ratings must be a whole number from 0 to 10,000,000,000",
    about: ["ratings"],
    holds: ({ ratings }) => ratings === undefined || isCount(ratings, MAX_RATINGS),
  },
  {
    code: "bad_figure",
    says: "rating must be a number from 1 to 5, or 0 without ratings",
    about: ["rating"],
    holds: ({ rating }) => rating === undefined || rating === 0 || (rating >= 1 && rating <= 5),
  },
  {
    code: "bad_figure",
    says: "an app without ratings has no rating, and one with ratings has at least 1 star",
    about: ["rating"],
    holds: ({ ratings, rating }) => !ratings === !rating || ratings === undefined || rating === undefined,
  },
  {
    code: "bad_figure",
    says: "the ratings by star must be five whole numbers from 0 to 10,000,000,000, all 0 without ratings",
    about: ["ratingsByStar"],
    holds: ({ ratings, ratingsByStar: stars }) =>
      stars === undefined ||
      (stars.length === 5 && stars.every((item) => isCount(item, MAX_RATINGS) && (ratings !== 0 || item === 0))),
  },
  {
    code: "bad_figure",
    says: "a price must be a number from 0, below 1,000,000,000,000",
    about: ["price"],
    holds: ({ price }) => isPrice(price),
  },
  {
    code: "bad_figure",
    says: "a currency must be a code of ISO 4217",
    about: ["currency"],
    holds: ({ currency }) => currency === undefined || isCurrency(currency),
  },
  {
    code: "bad_figure",
    says: "a price must have a currency, unless it is 0",
    about: ["price"],
    holds: ({ price, currency }) => !price || currency !== undefined,
  },
  {
    code: "bad_text",
    says: "an icon must be an address that begins with https:// or http://, of 2,000 characters at most",
    about: ["icon"],
    holds: ({ icon }) => icon === undefined || addressProblem(icon) === null,
  },
  {
    code: "bad_text",
    says: "a developer's site must be an address that begins with https:// or http://, of 2,000 characters at most",
    about: ["developerSite"],
    holds: ({ developerSite: site }) => site === undefined || addressProblem(site) === null,
  },
  {
    code: "bad_time",
    says: "a release must lie between 1970 and 2200",
    about: ["releasedAt"],
    holds: ({ releasedAt }) => isDate(releasedAt),
  },
  {
    code: "bad_time",
    says: "an update must lie between 1970 and 2200",
    about: ["updatedAt"],
    holds: ({ updatedAt }) => isDate(updatedAt),
  },
  {
    code: "bad_time",
    says: "an update must not lie more than a day after it was seen, unless the release is still ahead",
    about: ["updatedAt"],
    holds: ({ updatedAt, releasedAt }, seenAt) =>
      isBefore(updatedAt, seenAt) || (releasedAt !== undefined && !isBefore(releasedAt, seenAt)),
  },
  {
    code: "bad_time",
    says: "an update must not lie more than a day before the release, unless the release is still ahead",
    about: ["updatedAt"],
    holds: ({ updatedAt, releasedAt }, seenAt) =>
      updatedAt === undefined || isBefore(releasedAt, updatedAt) || !isBefore(releasedAt, seenAt),
  },
  {
    code: "bad_text",
    says: "a developer's id must have 1 to 200 characters",
    about: ["developerId"],
    holds: ({ developerId: id }) => id === undefined || isText(id, 200),
  },
]

type BuildFacts = Pick<StoreApp, "languages" | "sizeBytes">

/** Rules for apps in look-ups only, because an app's page names its languages in words. */
const BUILD_RULES: readonly Rule<BuildFacts>[] = [
  {
    code: "bad_text",
    says: "languages must be two-letter codes in lower case, sorted, without duplicates, and at least one",
    about: ["languages"],
    holds: ({ languages }) => languages === undefined || areLanguages(languages),
  },
  {
    code: "bad_figure",
    says: "a size must be a whole number of bytes from 1 to 1,000,000,000,000",
    about: ["sizeBytes"],
    holds: ({ sizeBytes: bytes }) => bytes === undefined || (isCount(bytes, MAX_BYTES) && bytes > 0),
  },
]

const MARKET_RULES: readonly Rule<MarketFacts>[] = [
  {
    code: "bad_figure",
    says: "installs must be a whole number from 0 to 1,000,000,000,000",
    about: ["installs"],
    holds: ({ installs }) => installs === undefined || isCount(installs, MAX_INSTALLS),
  },
  {
    code: "bad_figure",
    says: "whether an app has in-app purchases must be true or false",
    about: ["hasInAppPurchases"],
    holds: ({ hasInAppPurchases: sells }) => sells === undefined || typeof sells === "boolean",
  },
  {
    code: "bad_figure",
    says: "in-app prices must be two numbers, the lower one first, from 0 to below 1,000,000,000,000",
    about: ["inAppLeast", "inAppMost", "inAppCurrency"],
    holds: ({ inAppLeast: least, inAppMost: most }) =>
      (least === undefined) === (most === undefined) &&
      isPrice(least) &&
      isPrice(most) &&
      (least === undefined || least <= (most as number)),
  },
  {
    code: "bad_figure",
    says: "an app without in-app purchases has no in-app prices",
    about: ["inAppLeast", "inAppMost", "inAppCurrency"],
    holds: ({ inAppLeast, hasInAppPurchases }) => inAppLeast === undefined || hasInAppPurchases !== false,
  },
  {
    code: "bad_figure",
    says: "the currency of in-app prices must be a code of ISO 4217",
    about: ["inAppCurrency"],
    holds: ({ inAppCurrency: currency }) => currency === undefined || isCurrency(currency),
  },
  {
    code: "bad_figure",
    says: "in-app prices must have a currency, unless they are 0",
    about: ["inAppLeast", "inAppMost"],
    holds: ({ inAppMost, inAppCurrency }) => !inAppMost || inAppCurrency !== undefined,
  },
]

/** Throws ObservationProblem for facts that no store can show of an app. */
export function checkFacts(app: AppFacts & Pick<StoreApp, "market">, seenAt: Date): void {
  assertAll(APP_RULES, app, seenAt)
  if (app.market) assertAll(MARKET_RULES, app.market, seenAt)
}

/** Throws ObservationProblem for impossible languages or sizes. */
export function checkBuild(app: BuildFacts, seenAt: Date): void {
  assertAll(BUILD_RULES, app, seenAt)
}

function assertAll<Facts>(rules: readonly Rule<Facts>[], facts: Facts, seenAt: Date): void {
  const broken = rules.find(({ holds }) => !holds(facts, seenAt))
  if (broken) throw new ObservationProblem(broken.code, broken.says)
}

/** Returns the observation without impossible facts, so that one odd value does not lose a page of fifty apps. */
export function possible<Seen extends AnyObservation>(seen: Seen): Seen {
  const { seenAt, results, apps, listing }: AnyObservation & ShownParts = seen
  return {
    ...seen,
    ...(results && { results: results.map((app) => possibleApp(app, seenAt)) }),
    ...(apps && { apps: apps.map((app) => possibleStoreApp(app, seenAt)) }),
    ...(listing && { listing: possibleListing(possibleApp(listing, seenAt), seenAt) }),
  }
}

interface ShownParts {
  results?: AppFacts[]
  apps?: StoreApp[]
  listing?: AppFacts & PageParts
}

/** The fields of an app's page that have rules. */
interface PageParts extends Pick<ListingExtras, "screenshots" | "similar" | "moreByDeveloper"> {
  events?: { startsAt?: Date | undefined; endsAt?: Date | undefined }[] | undefined
}

function possibleStoreApp({ market, listing, ...app }: StoreApp, seenAt: Date): StoreApp {
  return {
    ...possibleApp(without(BUILD_RULES as readonly Rule<typeof app>[], app, seenAt), seenAt),
    ...(market && { market: without(MARKET_RULES, market, seenAt) }),
    ...(listing && { listing: possibleListing(listing, seenAt) }),
  }
}

function possibleApp<App extends AppFacts>(app: App, seenAt: Date): App {
  return without(APP_RULES as readonly Rule<App>[], app, seenAt)
}

function without<Facts extends object>(rules: readonly Rule<Facts>[], facts: Facts, seenAt: Date): Facts {
  let left = facts
  for (const { holds, about } of rules) {
    if (holds(left, seenAt)) continue
    const remaining = Object.entries(left).filter(([name]) => !(about as readonly string[]).includes(name))
    left = Object.fromEntries(remaining) as Facts
  }
  return left
}

function possibleListing<Parts extends PageParts>(parts: Parts, seenAt: Date): Parts {
  const { screenshots, similar, moreByDeveloper, events } = parts
  return {
    ...parts,
    ...(screenshots && { screenshots: addressesIn(screenshots) }),
    ...(similar && { similar: similar.map((app) => possibleApp(app, seenAt)) }),
    ...(moreByDeveloper && { moreByDeveloper: moreByDeveloper.map((app) => possibleApp(app, seenAt)) }),
    ...(events && {
      events: events.map((event) => {
        const { startsAt: _, endsAt: __, ...untimed } = event
        return isInOrder(event) ? event : untimed
      }),
    }),
  }
}

function addressesIn({ phone, pad }: Screenshots): Screenshots {
  const isAddress = (item: string) => addressProblem(item) === null
  return { ...(phone && { phone: phone.filter(isAddress) }), ...(pad && { pad: pad.filter(isAddress) }) }
}

/** Returns false if an event ends before it begins. True if one of the dates is missing. */
export function isInOrder({ startsAt, endsAt }: { startsAt?: Date; endsAt?: Date }): boolean {
  return startsAt === undefined || endsAt === undefined || startsAt <= endsAt
}

function isCount(figure: number, most: number): boolean {
  return Number.isInteger(figure) && figure >= 0 && figure <= most
}

function isPrice(price: number | undefined): boolean {
  return price === undefined || (price >= 0 && price < 1e12)
}

function areLanguages(codes: readonly string[]): boolean {
  return codes.length > 0 && codes.every((code, i) => /^[a-z]{2}$/.test(code) && (i === 0 || codes[i - 1]! < code))
}

/** Returns true if `at` is missing or at most a day after `other`. */
function isBefore(at: Date | undefined, other: Date): boolean {
  return at === undefined || at.getTime() <= other.getTime() + DAY_MS
}

// dates may lie in the future: an app can be pre-ordered
const EARLIEST = Date.parse("1970-01-01")
const LATEST = Date.parse("2200-01-01")

export function isDate(at: Date | undefined): boolean {
  return at === undefined || (at.getTime() >= EARLIEST && at.getTime() < LATEST)
}
