import { isRecord, withoutUndefined } from "../../lib/objects.ts"
import { at, text } from "../../measuring/parsing/json.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { fact, required } from "../../measuring/parsing/required.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { artworkUrl } from "../../stores/apple/artwork.ts"
import { browserHeaders, canonicalStorefront, embeddedPages, linkedData } from "../../stores/apple/page.ts"
import type { Listing, ListingObservation, ListingQuestion } from "../../stores/kinds/listing-shape.ts"
import { listing } from "../kinds/listing.ts"
import { editorialOf, eventsOf } from "./apple-app-page/editors.ts"
import { type InformationRow, informationOf, purchasesOf, rowsOf } from "./apple-app-page/information.ts"
import { offerOf } from "./apple-app-page/offers.ts"
import { ratingsOf } from "./apple-app-page/ratings.ts"
import { appsOn, itemsOn, type Shelves, screenshotsOf } from "./apple-app-page/shelves.ts"
import { versionsOf } from "./apple-app-page/versions.ts"

const PARSER = 1

/**
 * Reads an app's page on apps.apple.com: its embedded data (the shape that public projects recorded in 2025 and 2026: a
 * `lockup` and named shelves), and the linked data for search engines for what the embedded data lacks. Apple chooses
 * the storefront by the request's address unless the cookie `geo` overrides it, so the page must name the requested
 * storefront and app. A missing shelf is omitted; a shelf of another shape is `changed`. Events and editors' cards are
 * read only from cards of the types that other store pages use.
 */
export const appleAppPage = {
  name: "apple-app-page",
  kind: listing,
  upstream: "apps.apple.com",
  parser: PARSER,
  // The page embeds some reviews with their authors.
  namesPeople: true,

  request: ({ storefront, id }) => ({
    path: `/${storefront}/app/id${encodeURIComponent(id)}`,
    headers: browserHeaders(storefront),
  }),

  parse(body, question, about) {
    const product = productOf(body)
    checkAnswers(question, product, body)
    return {
      kind: "listing",
      source: "apple-app-page",
      platform: "ios",
      storefront: question.storefront,
      id: question.id,
      listing: listingOf(product),
      origin: "own",
      parser: PARSER,
      ...about,
    }
  },
} satisfies Source<ListingQuestion, ListingObservation>

interface Product {
  intent: unknown
  page: unknown
  shelves: Shelves
  /** The page's linked data for search engines. */
  linked: unknown
}

/** Returns the only entry of the embedded data that is an app's page. */
function productOf(body: string): Product {
  const pages = embeddedPages(body).filter((entry) => isRecord(at(entry, "data", "shelfMapping")))
  if (pages.length !== 1) throw changed("not exactly one app page")
  const [intent, page] = [at(pages[0], "intent"), at(pages[0], "data")]
  const kind = at(intent, "$kind")
  if (kind !== undefined && kind !== "ProductPageIntent") throw changed("the page is not an app page")
  return { intent, page, shelves: at(page, "shelfMapping") as Shelves, linked: linkedData(body, "SoftwareApplication") }
}

const changed = (detail: string) => new ReadFailure("changed", detail)

/** Throws unless the page names the requested app and storefront, and names no others. */
function checkAnswers({ storefront, id }: ListingQuestion, { intent, page, shelves }: Product, body: string): void {
  const address = CANONICAL.exec(text(at(page, "canonicalURL")) ?? "")
  const place = text(at(intent, "storefront"))?.toLowerCase() ?? address?.[1] ?? canonicalStorefront(body)
  if (place === undefined) throw changed("the page does not name its storefront")
  if (place !== storefront) throw mismatched("the page is another storefront's", place)
  const pageIds = [at(intent, "id"), at(page, "lockup", "adamId"), address?.[2]]
  const ids = [...pageIds, at(itemsOn(shelves, "productRatings"), 0, "productId")].filter((pageId) => isGiven(pageId))
  if (!pageIds.some(isGiven)) throw changed("the page does not name its app")
  if (ids.some((pageId) => String(pageId) !== id)) throw mismatched("the page is another app's")
}

const CANONICAL = /^https:\/\/apps\.apple\.com\/([a-z]{2})\/app\/(?:[^/?#]+\/)?id(\d{1,12})(?:[?#]|$)/

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function listingOf({ intent, page, shelves, linked }: Product): Listing {
  const lockup = at(page, "lockup")
  const rows = rowsOf(shelves) ?? []
  const offer = offerOf(page, linked)
  return withoutUndefined<Listing>({
    name: required(at(lockup, "title") ?? at(page, "title") ?? at(linked, "name"), text),
    language: fact(at(intent, "language"), languageTag),
    subtitle: subtitleOf(lockup, rows),
    promotionalText: fact(at(page, "promotionalText"), text) ?? paragraphOn(shelves, "promotionalText"),
    description: paragraphOn(shelves, "description") ?? fact(at(linked, "description"), text),
    bundleId: fact(at(lockup, "bundleId"), text),
    ...developerOf(page, linked),
    // The linked data has another URL for the icon, which would look like a new icon.
    icon: fact(at(lockup, "icon", "template"), artworkUrl),
    screenshots: screenshotsOf(shelves),
    ...informationOf(rows, shelves),
    ...offer,
    inAppPurchases: purchasesOf(rows, offer.hasInAppPurchases),
    ...versionsOf(shelves),
    ...ratingsOf(shelves, linked),
    similar: appsOn(shelves, "similarItems"),
    moreByDeveloper: appsOn(shelves, "moreByDeveloper"),
    events: eventsOf(shelves),
    editorial: editorialOf(shelves),
  })
}

function languageTag(value: unknown): string | undefined {
  return typeof value === "string" && /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/.test(value) ? value : undefined
}

/**
 * Returns the subtitle. If the app has none, the page shows the category in its place; a subtitle that also occurs in
 * the information rows is therefore left out.
 */
function subtitleOf(lockup: unknown, rows: readonly InformationRow[]): string | undefined {
  const subtitle = fact(at(lockup, "subtitle"), text)
  const informationTexts = rows.flatMap(({ lines, summary }) => [...lines.map((line) => line.text), summary])
  const lower = subtitle?.toLowerCase()
  return informationTexts.some((line) => line?.toLowerCase() === lower) ? undefined : subtitle
}

function paragraphOn(shelves: Shelves, name: string): string | undefined {
  const [item] = itemsOn(shelves, name) ?? []
  return item === undefined ? undefined : required(at(item, "paragraph", "text") ?? at(item, "text"), text)
}

function developerOf(page: unknown, linked: unknown): Pick<Listing, "developer" | "developerId"> {
  const action = at(page, "developerAction")
  const address = text(at(action, "pageUrl")) ?? text(at(linked, "author", "url"))
  return withoutUndefined<Pick<Listing, "developer" | "developerId">>({
    developer: fact(at(action, "title"), text) ?? fact(at(linked, "author", "name"), text),
    developerId: DEVELOPER.exec(address ?? "")?.[1],
  })
}

const DEVELOPER = /^https:\/\/apps\.apple\.com\/[a-z]{2}\/developer\/(?:[^/?#]+\/)?id([1-9]\d{0,15})(?:[?#]|$)/
