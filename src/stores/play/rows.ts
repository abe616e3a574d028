import type { ResultApp } from "../../core/observation/line-parts.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { isStoreId } from "../../lib/store-ids.ts"
import { at, text } from "../../measuring/parsing/json.ts"
import { fact, required } from "../../measuring/parsing/required.ts"
import { ReadFailure } from "../../measuring/source.ts"
import { address, linkedApp, pictureOf, starsOf } from "./listing.ts"

/**
 * Returns the app of a row in a list of apps. Empty if the row is an ad or links elsewhere. Throws ReadFailure
 * (`changed`).
 */
export function rowOf(item: unknown): ResultApp[] {
  const row = at(item, 0)
  const id = idOf(at(row, 10, 4, 2), at(row, 0, 0))
  if (id === null || isLabelledAd(item)) return []
  const name = required(at(row, 3), text)
  const icon = fact(pictureOf(at(row, 1)), address)
  return [
    withoutUndefined<ResultApp>({ id, name, icon, developer: fact(at(row, 14), text), rating: starsOf(at(row, 4)) }),
  ]
}

/**
 * Returns the app id of a row, on which its link and its id field must agree. Null if the link is not that of a result.
 */
export function idOf(link: unknown, id: unknown): string | null {
  const linked = linkedApp(link)
  if (linked === null) return null
  if (linked === undefined || linked !== id || !isStoreId("android", linked)) {
    throw new ReadFailure("changed", "a result has no id")
  }
  return linked
}

// No recorded page has a paid row. An ad is recognised by a link with further parameters and by this label.
export function isLabelledAd(row: unknown): boolean {
  return textsIn(row).includes("Sponsored")
}

/** Returns all strings at any depth. Uses a queue, because a body may be nested deeper than the call stack. */
export function textsIn(value: unknown): string[] {
  const open = [value]
  for (const here of open) {
    if (typeof here === "object" && here !== null) for (const inner of Object.values(here)) open.push(inner)
  }
  return open.filter((each) => typeof each === "string")
}
