import type { StoreApp } from "../../core/observation/line-parts.ts"
import { mismatched } from "../../measuring/parsing/mismatched.ts"
import { ReadFailure, type Source } from "../../measuring/source.ts"
import type { DeveloperAppsObservation } from "../kinds/developer.ts"
import { type DeveloperQuestion, developer } from "../kinds/developer.ts"
import { type ITunesRow, itunesRows } from "./itunes-app.ts"

const PARSER = 3

/** The highest `limit` in Apple's documentation of the API. */
const MAX_APPS = 200

/**
 * Reads the apps that a developer sells in one storefront, with Apple's look-up of a developer id and its software. The
 * response has the developer's row first, then one row per app; Mac-only apps are left out. An empty response is
 * `not_found`: the developer does not exist or sells nothing there. `complete` is false when the response has the
 * maximum length.
 */
export const itunesDeveloper = {
  name: "itunes-developer",
  kind: developer,
  upstream: "itunes.apple.com",
  parser: PARSER,
  mayFindNothing: true,

  request: ({ storefront, developerId }) => ({
    path: `/lookup?id=${encodeURIComponent(developerId)}&entity=software&limit=${MAX_APPS}&country=${storefront}`,
  }),

  parse(body, { storefront, developerId }, about) {
    const rows = itunesRows(body, storefront)
    return {
      kind: "developer",
      source: "itunes-developer",
      platform: "ios",
      storefront,
      developerId,
      complete: rows.filter(({ is }) => is === "software").length < MAX_APPS,
      apps: soldBy(developerId, rows),
      origin: "own",
      parser: PARSER,
      ...about,
    }
  },
} satisfies Source<DeveloperQuestion, DeveloperAppsObservation>

function soldBy(developerId: string, rows: readonly ITunesRow[]): StoreApp[] {
  const [developerRow, ...sold] = rows
  if (developerRow === undefined) throw new ReadFailure("not_found", "nothing of that developer is sold there")
  if (developerRow.is !== "developer") throw changed("the first row is not the developer's")
  if (developerRow.id !== developerId) throw mismatched("the first row is another developer's")
  const apps = new Map<string, StoreApp>()
  for (const row of sold) {
    if (row.is !== "software" || row.developerId !== developerId) throw changed("a row that is not the developer's app")
    if (row.app === undefined) continue
    if (apps.has(row.id)) throw changed("an app occurs twice")
    apps.set(row.id, row.app)
  }
  return [...apps.values()]
}

const changed = (detail: string) => new ReadFailure("changed", detail)
