import type { ResultApp } from "../../core/observation/line-parts.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { isStoreId } from "../../lib/store-ids.ts"
import { at, count, stars, text } from "../../measuring/parsing/json.ts"
import { artworkUrl } from "./artwork.ts"

/**
 * Returns the app of a "lockup": the name that apps.apple.com uses for an icon with a title, in search results and in
 * rows of related apps. Undefined if it has no app id. `ratings` is omitted when the count is abbreviated ("1.2M").
 */
export function lockupApp(lockup: unknown): ResultApp | undefined {
  const id = adamId(at(lockup, "adamId")) ?? adamId(at(lockup, "impressionMetrics", "fields", "id"))
  if (id === undefined) return undefined
  return withoutUndefined<ResultApp>({
    id,
    name: text(at(lockup, "title")),
    icon: artworkUrl(at(lockup, "icon", "template")),
    developer: text(at(lockup, "developerName")),
    bundleId: text(at(lockup, "bundleId")),
    ratings: exactCount(at(lockup, "ratingCount")),
    rating: stars(at(lockup, "rating")),
  })
}

/** Returns an app id from a number or a string. In a string, "::" and further text may follow the id. */
export function adamId(value: unknown): string | undefined {
  const id = typeof value === "number" ? String(value) : text(value)?.split("::", 1)[0]
  return id !== undefined && isStoreId("ios", id) ? id : undefined
}

// "105K", "1,2 Mio." and "1.234" are abbreviated or depend on the language. Only plain digits are an exact count.
function exactCount(value: unknown): number | undefined {
  return count(typeof value === "string" && /^(?:0|[1-9]\d{0,11})$/.test(value) ? Number(value) : value)
}
