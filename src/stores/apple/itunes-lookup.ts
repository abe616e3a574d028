import type { StoreApp } from "../../core/observation/line-parts.ts"
import { withoutUndefined } from "../../lib/objects.ts"
import { count } from "../../measuring/parsing/json.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import { apps } from "../kinds/apps.ts"
import type { AppsObservation, AppsQuestion } from "../kinds/apps-shape.ts"
import { fact, type ITunesRow, itunesRows } from "./itunes-app.ts"
import { listedBeside } from "./itunes-listing.ts"

const PARSER = 4

/** Apple's limit is not written down; public clients ask for 50 to 200 at once. */
export const LOOKUP_IDS = 50

/**
 * Apple's look-up of apps by id: what a storefront sells, with exact rating counts. An id that was asked for and not
 * answered is not sold there as an iOS app. Of each app it says most of what its page says too. `rating` is left out of an
 * app that nobody has rated, where Apple writes 0. `request` throws RangeError for no id or more than LOOKUP_IDS.
 */
export const itunesLookup: Source<AppsQuestion, AppsObservation> = {
  name: "itunes-lookup",
  kind: apps,
  upstream: "itunes.apple.com",
  parser: PARSER,

  request({ storefront, ids }) {
    const asked = [...new Set(ids)]
    if (asked.length < 1 || asked.length > LOOKUP_IDS)
      throw new RangeError(`1 to ${LOOKUP_IDS} ids are looked up at once`)
    return { path: `/lookup?id=${asked.map(encodeURIComponent).join(",")}&country=${storefront}&entity=software` }
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
}

/**
 * The apps among the rows. An id that is a developer's is answered with its row and all that it sells: none of those was
 * asked for, and the id itself is no app's.
 */
function answered(rows: ITunesRow[], asked: ReadonlySet<string>): StoreApp[] {
  const developers = new Set(rows.flatMap((row) => (row.is === "developer" ? [row.id] : [])))
  const apps = new Map<string, StoreApp>()
  for (const row of rows) {
    if (row.is === "developer" && !asked.has(row.id)) throw mismatched("a developer that was not asked for")
    if (row.is !== "software") continue
    if (!asked.has(row.id)) {
      if (row.developerId === undefined || !developers.has(row.developerId))
        throw mismatched("an app that was not asked for")
      continue
    }
    if (row.app === undefined) continue
    if (apps.has(row.id)) throw changed("an app stands twice")
    const app = { ...row.app, ...builtAs(row.row) }
    // a page without a name that can be stored is none
    apps.set(row.id, app.name === undefined ? app : { ...app, listing: listedBeside(row.row) })
  }
  return [...apps.values()]
}

/** What a row says of the app as it was built, which is the same in all storefronts. Throws ReadFailure (`changed`). */
function builtAs(row: unknown): Pick<StoreApp, "languages" | "sizeBytes"> {
  return withoutUndefined<Pick<StoreApp, "languages" | "sizeBytes">>({
    languages: languagesOf(fact(row, "languageCodesISO2A", codes)),
    sizeBytes: fact(row, "fileSizeBytes", bytes),
  })
}

/** An empty list says nothing. */
function languagesOf(read: string[] | undefined): string[] | undefined {
  return read?.length === 0 ? undefined : read
}

/** Apple names a language once for each script of it, in capitals; what is no code of two letters is left out. */
function codes(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const named = value.filter((code): code is string => typeof code === "string" && /^[A-Z]{2}$/.test(code))
  return [...new Set(named.map((code) => code.toLowerCase()))].sort()
}

/** Written as digits. */
function bytes(value: unknown): number | undefined {
  return count(typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value)
}

const changed = (detail: string) => new ReadFailure("changed", detail)
