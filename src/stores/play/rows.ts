import type { ResultApp } from "../../core/observation/line-parts.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { isStoreId } from "../../lib/store-ids.ts"
import { at, text } from "../../measuring/parsing/json.ts"
import { fact, required } from "../../measuring/parsing/required.ts"
import { ReadFailure } from "../../measuring/source.ts"
import { address, linkedApp, pictureOf, starsOf } from "./listing.ts"

/** The app of a row in a list of apps; none where the row leads elsewhere or is paid for. Throws ReadFailure (`changed`). */
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

/** The app of a row, which its link and its own id both name; null where the link is not that of a result. */
export function idOf(link: unknown, id: unknown): string | null {
  const linked = linkedApp(link)
  if (linked === null) return null
  if (linked === undefined || linked !== id || !isStoreId("android", linked)) {
    throw new ReadFailure("changed", "a result has no id")
  }
  return linked
}

// No recorded page has a paid row. It is known by a link that carries more than the app, and by the word.
export function isLabelledAd(row: unknown): boolean {
  return textsIn(row).includes("Sponsored")
}

/** Every text at any depth. By a queue: a body may be nested deeper than calls can be. */
export function textsIn(value: unknown): string[] {
  const open = [value]
  for (const here of open) {
    if (typeof here === "object" && here !== null) for (const inner of Object.values(here)) open.push(inner)
  }
  return open.filter((each) => typeof each === "string")
}
