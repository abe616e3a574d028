import type { StoreApp } from "../../core/observation/line-parts.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { isStoreId } from "../../lib/store-ids.ts"
import { at, count, currency, list, siteOf, text } from "../../measuring/parsing/json.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { apps } from "../kinds/apps.ts"
import type { AppsObservation, AppsQuestion } from "../kinds/apps-shape.ts"
import { blockOf, playRequest } from "./blocks.ts"
import { assertCountry } from "./calls.ts"
import { fact, fieldAt, listedFacts, required } from "./listing.ts"
import { marketOf } from "./market.ts"
import { pageFacts } from "./page.ts"

const PARSER = 4

/**
 * Reads an app's page on play.google.com. `request` throws RangeError unless there is exactly one id. The page names
 * its country, which must be the requested one, as in play-search; names are in English.
 *
 * For a missing page the store returns a 404, which never reaches `parse`: the read fails with `not_found`. A page that
 * shows the app but offers neither installation nor pre-registration fails the same way. Both mean that the app is not
 * available there, and the caller may store that. A page that lacks anything else that every page has is `changed`.
 */
export const playDetails = {
  name: "play-details",
  kind: apps,
  upstream: "play.google.com",
  parser: PARSER,
  mayFindNothing: true,
  namesCountry: true,
  request: ({ storefront, ids }) => playRequest("/store/apps/details", storefront, { id: onlyId(ids) }),
  parse(body, { storefront, ids }, about) {
    const listing = at(blockOf(body, ANSWER), 1, 2)
    assertCountry(body, storefront)
    const facts = appOf(listing, onlyId(ids))
    const app = { ...facts, market: marketOf(listing, facts.currency), listing: pageFacts(body, listing, facts) }
    const subject = { platform: "android" as const, storefront, asked: [...ids] }
    return { kind: "apps", source: "play-details", ...subject, apps: [app], parser: PARSER, origin: "own", ...about }
  },
} satisfies Source<AppsQuestion, AppsObservation>

// The page makes this RPC twice; the other block has only the ratings of one device type.
const ANSWER = { rpc: "Ws7gDc", key: "ds:5", fits: (data: unknown) => list(at(data, 1, 2)).length > 100 }

function onlyId(ids: readonly string[]): string {
  const [id] = ids
  if (id === undefined || ids.length > 1) throw new RangeError("play-details reads one app at a time")
  return id
}

function appOf(listing: unknown, id: string): StoreApp {
  const pageId = required(at(fieldAt(listing, 77), 0), packageOf)
  if (pageId !== id) throw mismatched(`the page is that of ${pageId}`)
  const app = withoutUndefined<StoreApp>({
    id,
    ...listedFacts(listing),
    version: versionOf(listing),
    price: fact(at(offerOf(listing), 0), units),
    currency: fact(at(offerOf(listing), 1), currency),
    genre: required(at(fieldAt(listing, 79), 0, 0, 2), category),
    developerId: developerOf(at(fieldAt(listing, 68), 1, 4, 2)),
    // Developers enter this URL: an invalid one is dropped and does not fail the reading.
    developerSite: siteOf(at(fieldAt(listing, 69), 0, 5, 2)),
    releasedAt: fact(at(fieldAt(listing, 10), 1, 0), moment),
    updatedAt: fact(at(fieldAt(listing, 145), 0, 1, 0), moment),
  })
  if (!isOffered(listing, app)) throw new ReadFailure("not_found", "shown, but offered to nobody in this storefront")
  return app
}

function packageOf(value: unknown): string | undefined {
  return typeof value === "string" && isStoreId("android", value) ? value : undefined
}

/**
 * Uses the availability status: 2 is available, 1 is pre-registration, which has no offer. Without a status, an app
 * with an offer counts as available.
 */
function isOffered(listing: unknown, app: StoreApp): boolean {
  const standing = fact(at(fieldAt(listing, 18), 0), count)
  return standing === undefined ? app.price !== undefined : standing > 0
}

/** Returns the price in millionths of the currency, the currency code, and the price as the page shows it. */
function offerOf(listing: unknown): unknown {
  return at(fieldAt(listing, 57), 0, 0, 0, 0, 1, 0)
}

/** Returns the version. Undefined if it varies with the device. */
function versionOf(listing: unknown): string | undefined {
  const version = fact(at(fieldAt(listing, 140), 0, 0, 0), text)
  return version === "Varies with device" ? undefined : version
}

/** Returns the developer id from the developer page's URL: a number or, for older developers, a name. */
function developerOf(link: unknown): string | undefined {
  return /^\/store\/apps\/dev(?:eloper)?\?id=([^&#\s]{1,200})$/.exec(text(link) ?? "")?.[1]
}

function units(micros: unknown): number | undefined {
  const whole = count(micros)
  return whole === undefined ? undefined : whole / 1_000_000
}

function category(value: unknown): string | undefined {
  return typeof value === "string" && /^[A-Z_]{1,100}$/.test(value) ? value : undefined
}

/** Parses seconds since 1970, up to the year 2199. */
function moment(seconds: unknown): Date | undefined {
  const whole = count(seconds)
  return whole === undefined || whole >= Date.UTC(2200, 0) / 1_000 ? undefined : new Date(whole * 1_000)
}
