import { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import type { LineOf } from "./line-shapes.ts"
import type { Listing, ListingObservation } from "./types.ts"

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
