import type { Difference } from "../../core/kind.ts"

/** Returns how two lists differ place by place; null if they do not. `others` are further differences for the text. */
export function differenceOf(
  what: string,
  held: readonly string[],
  now: readonly string[],
  others: readonly (string | false)[] = [],
): Difference | null {
  const longer = held.length > now.length ? held : now
  const places = longer.filter((_, place) => held[place] !== now[place]).length
  const details = [places > 0 && `${places} of ${longer.length} ${what}`, ...others].filter((one) => one !== false)
  return details.length > 0 ? { places, detail: details.join(", ") } : null
}
