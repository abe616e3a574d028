import type { Difference } from "../../core/kind.ts"

/** How two lists differ place by place; null = in nothing. `others` are told beside. */
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
