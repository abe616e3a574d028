import type { SearchQuestion } from "../../keywords/kinds/search-shape.ts"
import { normaliseTerm } from "../../lib/term.ts"
import { appsOf } from "../../measuring/parsing/json.ts"
import type { Source } from "../../measuring/source.ts"
import { apps } from "../kinds/apps.ts"
import type { AppsObservation } from "../kinds/apps-shape.ts"
import { itunesRows } from "./itunes-app.ts"

const PARSER = 3
const MOST = 200

/**
 * Apple's search of the catalogue, asked for what it says of apps and for nothing else. Its order is no rank and can
 * never become one: it is not the order that a phone shows (the same term stood at 58 here and at 70 there, in a public
 * comparison), and what is read is an AppsObservation, from which no path leads to a SearchObservation. `asked` is
 * exactly what was found: a search says nothing of an app that it does not list.
 */
export const itunesSearch: Source<SearchQuestion, AppsObservation> = {
  name: "itunes-search",
  kind: apps,
  upstream: "itunes.apple.com",
  parser: PARSER,

  request: ({ storefront, term }) => ({
    path: `/search?term=${encodeURIComponent(term)}&country=${storefront}&media=software&entity=software&limit=${MOST}`,
  }),

  parse(body, { storefront, term }, about) {
    const rows = itunesRows(body, storefront)
    // an app that stands on two rows is the same app
    const apps = appsOf(
      rows.flatMap((row) => (row.is === "software" && row.app ? [row.app] : [])),
      MOST,
    )
    return {
      kind: "apps",
      source: "itunes-search",
      platform: "ios",
      storefront,
      asked: apps.map(({ id }) => id),
      // a kept body is read again without its question
      ...(term !== "" && { text: normaliseTerm(term) }),
      apps,
      origin: "own",
      parser: PARSER,
      ...about,
    }
  },
}
