import { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import { LineProblem } from "./line-problem.ts"
import type { LineOf } from "./line-shapes.ts"
import { titleIn, versionIn, writtenIn } from "./review-parts.ts"
import type {
  AppsObservation,
  ChartObservation,
  DeveloperAppsObservation,
  Listing,
  ListingObservation,
  ReviewsObservation,
  StoreApp,
  StoreReview,
} from "./types.ts"

export function appsOf(line: LineOf<"apps">, text: string): AppsObservation {
  return { ...line, ...provenanceOf(line, text), apps: line.apps.map(dated<StoreApp>) }
}

/**
 * With moments in place of how they are written, a version's, an event's and an app's, and without what is not said; at any
 * depth.
 */
function dated<T>(part: unknown): T {
  if (Array.isArray(part)) return part.map(dated) as T
  if (typeof part !== "object" || part === null) return part as T
  const said = Object.entries(part).filter(([, value]) => value !== undefined)
  const entries = said.map(([key, value]) => [key, MOMENTS.has(key) ? new Date(value) : dated(value)])
  return Object.fromEntries(entries)
}

const MOMENTS = new Set(["releasedAt", "updatedAt", "startsAt", "endsAt"])

export function listingOf(line: LineOf<"listing">, text: string): ListingObservation {
  return { ...line, ...provenanceOf(line, text), listing: dated<Listing>(line.listing) }
}

export function developerOf(line: LineOf<"developer">, text: string): DeveloperAppsObservation {
  return { ...line, ...provenanceOf(line, text), apps: line.apps.map(dated<StoreApp>) }
}

export function chartOf(line: LineOf<"chart">, text: string): ChartObservation {
  const { apps, depth, ...rest } = line
  if (depth === undefined && apps.length === 0) throw new LineProblem("depth: must be given when apps is empty")
  return { ...rest, ...provenanceOf(line, text), depth: depth ?? apps.length, apps: apps as ChartObservation["apps"] }
}

export function reviewsOf(line: LineOf<"reviews">, text: string): ReviewsObservation {
  const { pages = 1, complete, reviews, language, ...rest } = line
  const empty = reviews.length === 0
  if (empty && complete !== true) throw new LineProblem("complete: must be true when reviews is empty")
  return {
    ...rest,
    ...provenanceOf(line, text),
    ...(language !== undefined && { language }),
    reviews: reviews.map(reviewIn),
    ...(complete !== undefined && { end: { pages, complete, empty } }),
  }
}

/** As the readers of stores' pages take it: an odd title or version is none, and a text loses what cannot be stored. */
function reviewIn({ title, text, version, at, ...review }: LineOf<"reviews">["reviews"][number]): StoreReview {
  const [named, of] = [titleIn(title), versionIn(version)]
  return {
    ...review,
    ...(named !== undefined && { title: named }),
    text: writtenIn(text),
    ...(of !== undefined && { version: of }),
    at,
  }
}

interface Provenanced {
  storefront: string
  seenAt: Date
  parser: number
  origin: string
  egress?: string | undefined
  sha256?: string | undefined
}

function provenanceOf({ storefront, seenAt, parser, origin, egress, sha256 }: Provenanced, text: string) {
  return {
    storefront: storefront.toLowerCase(),
    seenAt,
    parser,
    origin,
    egress: egress?.toLowerCase(),
    sha256: sha256 === undefined ? hash("sha256", text.trim(), "buffer") : Buffer.from(sha256, "hex"),
  }
}
