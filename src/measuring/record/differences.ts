import type { Difference } from "../../core/kind.ts"

/** Returns how two lists differ place by place; null if they do not. `others` are further differences for the text. */
export function differenceOf(
  what: string,
  previous: readonly string[],
  now: readonly string[],
  extra: readonly (string | false)[] = [],
): Difference | null {
  const longer = previous.length > now.length ? previous : now
  const places = longer.filter((_, place) => previous[place] !== now[place]).length
  const details = [places > 0 && `${places} of ${longer.length} ${what}`, ...extra].filter((item) => item !== false)
  return details.length > 0 ? { places, detail: details.join(", ") } : null
}
