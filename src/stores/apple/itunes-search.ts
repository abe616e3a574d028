import { normaliseTerm } from "../../lib/term.ts"
import { appsOf } from "../../measuring/parsing/json.ts"
import type { Source } from "../../measuring/source.ts"
import { apps } from "../kinds/apps.ts"
import type { AppsObservation, CatalogueQuestion } from "../kinds/apps-shape.ts"
import { itunesRows } from "./itunes-app.ts"

const PARSER = 3
const MAX_APPS = 200

/**
 * Reads app facts from Apple's catalogue search. Its order is not a rank and must not become one: it differs from the
 * order on a phone (in a public comparison the same app had rank 58 here and 70 there). The result is therefore an
 * AppsObservation, which is never converted to a SearchObservation. `asked` lists exactly the apps found, because an
 * app that a search does not list may still be available.
 */
export const itunesSearch = {
  name: "itunes-search",
  kind: apps,
  upstream: "itunes.apple.com",
  parser: PARSER,

  request: ({ storefront, term }) => ({
    path:
      `/search?term=${encodeURIComponent(term)}&country=${storefront}` +
      `&media=software&entity=software&limit=${MAX_APPS}`,
  }),

  parse(body, { storefront, term }, about) {
    const rows = itunesRows(body, storefront)
    // An app may occur in two rows.
    const apps = appsOf(
      rows.flatMap((row) => (row.is === "software" && row.app ? [row.app] : [])),
      MAX_APPS,
    )
    return {
      kind: "apps",
      source: "itunes-search",
      platform: "ios",
      storefront,
      asked: apps.map(({ id }) => id),
      // A stored body is parsed again without the question that was asked.
      ...(term !== "" && { text: normaliseTerm(term) }),
      apps,
      origin: "own",
      parser: PARSER,
      ...about,
    }
  },
} satisfies Source<CatalogueQuestion, AppsObservation>
