import { type AppsQuestion, apps } from "../../observations/kinds/apps.ts"
import type { AppsObservation, StoreApp } from "../../observations/types.ts"
import { mismatched } from "../mismatched.ts"
import { ReadFailure, type Source } from "../source.ts"
import { type ITunesRow, itunesRows } from "./itunes-app.ts"
import { listedBeside } from "./itunes-listing.ts"

const PARSER = 3

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
    // a page without a name that can be stored is none
    apps.set(row.id, row.app.name === undefined ? row.app : { ...row.app, listing: listedBeside(row.row) })
  }
  return [...apps.values()]
}

const changed = (detail: string) => new ReadFailure("changed", detail)
