import type { SourceName } from "../../lib/upstreams.ts"
import type { Platform } from "./provenance.ts"

/** `mismatched`: the response is for another request, for example another term, country, app or chart. */
export const OUTCOMES = ["blocked", "rate_limited", "not_found", "changed", "mismatched", "failed"] as const
export type Outcome = (typeof OUTCOMES)[number]

/** A failed read. It is logged and changes no measurement. */
export interface Attempt {
  kind: "search" | "apps" | "hints" | "reviews" | "listing" | "chart" | "genres" | "developer" | "app_ads"
  at: Date
  /** The term, the prefix, the store ids (comma-separated), the developer's id, or the chart ("iphone free 6013"). */
  subject: string
  storefront: string
  platform: Platform
  source: SourceName
  outcome: Outcome
  detail?: string
  /** SHA-256 of the body that could not be parsed. */
  sha256?: Uint8Array
}
