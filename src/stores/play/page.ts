import type {
  ListingExtras as ListedBeside,
  ListingVersion,
  ResultApp,
  Screenshots,
  StoreApp,
} from "../../core/observation/line-parts.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { appsOf, at, list, text } from "../../measuring/parsing/json.ts"
import { namedBlock } from "./blocks.ts"
import { address, fact, fieldAt, pictureOf, required } from "./listing.ts"
import { rowOf } from "./rows.ts"

/**
 * Returns the parts of an app's page that are not common to all readings of apps, in English. The short description is
 * returned as `subtitle`. `phone` contains all screenshots, because the page does not distinguish devices. Throws
 * ReadFailure (`changed`).
 */
export function pageFacts(page: string, listing: unknown, app: StoreApp): ListedBeside {
  return withoutUndefined<ListedBeside>({
    language: "en",
    subtitle: written(at(fieldAt(listing, 73), 0, 1)),
    description: written(at(fieldAt(listing, 72), 0, 1)),
    screenshots: screenshotsOf(listing),
    ageRating: fact(at(fieldAt(listing, 9), 0), text),
    category: fact(at(fieldAt(listing, 79), 0, 0, 0), text),
    versions: versionOf(listing, app),
    ...shelvesOf(page),
  })
}

function written(value: unknown): string | undefined {
  const html = fact(value, text)
  return html === undefined ? undefined : plainText(html)
}

function screenshotsOf(listing: unknown): Screenshots | undefined {
  const pictures = at(fieldAt(listing, 78), 0)
  return Array.isArray(pictures)
    ? { phone: pictures.map((picture) => required(pictureOf(picture), address)) }
    : undefined
}

function versionOf(listing: unknown, { version, updatedAt }: StoreApp): ListingVersion[] | undefined {
  const notes = written(at(fieldAt(listing, 144), 1, 1))
  return version === undefined
    ? undefined
    : [withoutUndefined<ListingVersion>({ version, releasedAt: updatedAt, notes })]
}

type Shelves = Pick<ListedBeside, "similar" | "moreByDeveloper">

// A separate RPC fills this block, and a page may lack it.
const SHELVES = { rpc: "ag2B9c", fits: (data: unknown) => Array.isArray(at(data, 1, 1)) }

/** Finds the row of similar apps by its name, and the developer's row by the link of its heading. */
function shelvesOf(page: string): Shelves {
  const shelves = list(at(namedBlock(page, SHELVES), 1, 1))
  const similar = shelves.find((shelf) => text(at(shelf, 3, 1, 0, 0))?.startsWith("similar_apps"))
  const developerShelf = shelves.find((shelf) => text(at(shelf, APPS, 1, 2, 4, 2))?.startsWith("/store/apps/dev"))
  return {
    ...(similar !== undefined && { similar: appsOn(similar) }),
    ...(developerShelf !== undefined && { moreByDeveloper: appsOn(developerShelf) }),
  }
}

const APPS = 21
// A limit for hostile pages. A page shows six.
const MAX_APPS = 200

function appsOn(shelf: unknown): ResultApp[] {
  return appsOf(
    required(at(shelf, APPS, 0), (rows) => (Array.isArray(rows) ? rows : undefined)).flatMap((row) => rowOf([row])),
    MAX_APPS,
  )
}

/**
 * Converts the HTML of a listing to plain text: line breaks, a few emphasis tags and character references. Undefined if
 * nothing remains.
 */
export function plainText(html: string): string | undefined {
  const lines = html.replace(/<br\s*\/?>/gi, "\n").replace(/<\/?[a-z][^<>]*>/gi, "")
  return text(lines.replace(/&(?:amp|lt|gt|quot|nbsp|#\d{1,7}|#x[0-9a-f]{1,6});/gi, signOf))
}

const SIGNS: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&nbsp;": "\u00a0" }

/** Returns the character of a reference. Returns the reference itself if there is no such character. */
function signOf(reference: string): string {
  const lower = reference.toLowerCase()
  const named = SIGNS[lower]
  if (named !== undefined) return named
  const code = lower.startsWith("&#x") ? Number.parseInt(lower.slice(3), 16) : Number.parseInt(lower.slice(2), 10)
  const isSign = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  return isSign ? String.fromCodePoint(code) : reference
}
