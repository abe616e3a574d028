import type { StoreApp } from "../../core/observation/line-parts.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { count } from "../../measuring/parsing/json.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { apps } from "../kinds/apps.ts"
import type { AppsObservation, AppsQuestion } from "../kinds/apps-shape.ts"
import { fact, type ITunesRow, itunesRows } from "./itunes-app.ts"
import { lookupFacts } from "./itunes-listing.ts"

const PARSER = 4

/** Apple does not document its limit; public clients request 50 to 200 ids at once. */
export const LOOKUP_IDS = 50

/**
 * Reads apps by id with Apple's look-up: availability in a storefront, exact rating counts and most of the store page.
 * An id without a row is not sold there as an iOS app. `rating` is omitted for an app without ratings, for which Apple
 * writes 0. `request` throws RangeError when there is no id or more than LOOKUP_IDS.
 */
export const itunesLookup = {
  name: "itunes-lookup",
  kind: apps,
  upstream: "itunes.apple.com",
  parser: PARSER,
  mayFindNothing: true,

  request({ storefront, ids }) {
    const distinct = [...new Set(ids)]
    if (distinct.length < 1 || distinct.length > LOOKUP_IDS)
      throw new RangeError(`a look-up needs 1 to ${LOOKUP_IDS} ids`)
    return { path: `/lookup?id=${distinct.map(encodeURIComponent).join(",")}&country=${storefront}&entity=software` }
  },

  parse: (body, { storefront, ids }, about) => ({
    kind: "apps",
    source: "itunes-lookup",
    platform: "ios",
    storefront,
    asked: [...new Set(ids)],
    apps: answered(itunesRows(body, storefront), new Set(ids)),
    origin: "own",
    parser: PARSER,
    ...about,
  }),
} satisfies Source<AppsQuestion, AppsObservation>

/**
 * Returns the requested apps among the rows. The id of a developer returns the developer's row and all of its apps:
 * those apps were not requested, and the id itself is not an app's.
 */
function answered(rows: ITunesRow[], requested: ReadonlySet<string>): StoreApp[] {
  const developers = new Set(rows.flatMap((row) => (row.is === "developer" ? [row.id] : [])))
  const apps = new Map<string, StoreApp>()
  for (const row of rows) {
    if (row.is === "developer" && !requested.has(row.id)) throw mismatched("a developer that was not requested")
    if (row.is !== "software") continue
    if (!requested.has(row.id)) {
      if (row.developerId === undefined || !developers.has(row.developerId))
        throw mismatched("an app that was not requested")
      continue
    }
    if (row.app === undefined) continue
    if (apps.has(row.id)) throw changed("an app occurs twice")
    const app = { ...row.app, ...builtAs(row.row) }
    // A listing requires a name that can be stored.
    apps.set(row.id, app.name === undefined ? app : { ...app, listing: lookupFacts(row.row) })
  }
  return [...apps.values()]
}

/** Returns the languages and the size, which are the same in all storefronts. Throws ReadFailure (`changed`). */
function builtAs(row: unknown): Pick<StoreApp, "languages" | "sizeBytes"> {
  return withoutUndefined<Pick<StoreApp, "languages" | "sizeBytes">>({
    languages: languagesOf(fact(row, "languageCodesISO2A", codes)),
    sizeBytes: fact(row, "fileSizeBytes", bytes),
  })
}

/** Returns the language codes. Undefined if the list is empty, because Apple then does not report the languages. */
function languagesOf(read: string[] | undefined): string[] | undefined {
  return read?.length === 0 ? undefined : read
}

/**
 * Returns two-letter language codes in lower case. Apple repeats a language for each of its scripts, in capitals; codes
 * of another length are left out.
 */
function codes(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const named = value.filter((code): code is string => typeof code === "string" && /^[A-Z]{2}$/.test(code))
  return [...new Set(named.map((code) => code.toLowerCase()))].sort()
}

/** Returns the size in bytes, which Apple writes as a string of digits. */
function bytes(value: unknown): number | undefined {
  return count(typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value)
}

const changed = (detail: string) => new ReadFailure("changed", detail)
