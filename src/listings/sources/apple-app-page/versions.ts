import type { ListingVersion } from "../../../core/observation/line-parts.ts"
import { withoutUndefined } from "../../../lib/objects.ts"
import { at, text } from "../../../measuring/parsing/json.ts"
import { fact, required } from "../../../measuring/parsing/required.ts"
import { ReadFailure } from "../../../measuring/source.ts"
import type { Listing } from "../../../stores/kinds/listing-shape.ts"
import { moment } from "./moments.ts"
import { itemsOn, type Shelves } from "./shelves.ts"

/**
 * Returns the newest version, and the whole history if the page embeds it. The history is behind the shelf's "see all"
 * (recorded) and has plain version numbers, while the shelf itself writes "Version 3.0" in the page's language.
 */
export function versionsOf(shelves: Shelves): Pick<Listing, "version" | "versions"> {
  const newest = itemsOn(shelves, "mostRecentVersion")?.map(versionOf)
  if (newest === undefined) return {}
  const versions = historyOf(shelves)?.map(versionOf) ?? newest
  const version = versions[0]?.version
  if (versions.findIndex((entry) => entry.version === newest[0]?.version) > 0) {
    throw new ReadFailure("changed", "the history does not begin with the newest version")
  }
  return { ...(version !== undefined && { version }), versions }
}

function historyOf(shelves: Shelves): readonly unknown[] | undefined {
  const all = at(shelves, "mostRecentVersion", "seeAllAction", "pageData", "shelves")
  if (all === undefined || all === null) return undefined
  const items = at(all, 0, "items")
  if (!Array.isArray(items)) throw new ReadFailure("changed", "a history without versions")
  return items
}

function versionOf(item: unknown): ListingVersion {
  return withoutUndefined<ListingVersion>({
    version: required(at(item, "primarySubtitle"), number),
    releasedAt: fact(at(item, "secondarySubtitle"), moment),
    notes: fact(at(item, "text"), text),
  })
}

/**
 * Returns "3.0" for "3.0", "Version 3.0" and "バージョン 3.0". "v3.0" stays unchanged, because developers use such numbers.
 */
function number(value: unknown): string | undefined {
  const title = text(value)?.trim()
  return title && (NAMED.exec(title)?.[1] ?? (/^\S+$/.test(title) && /\d/.test(title) ? title : undefined))
}

const NAMED = /^(?:[\p{L}\p{M}\p{Cf}\s]*\s|[^\p{ASCII}]+)(\d\S*)$/u
