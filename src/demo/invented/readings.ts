import type { ResultApp } from "../../core/observation/line-parts.ts"
import type { Observation } from "../../kinds.ts"
import { addDays, monthOf } from "../../lib/days.ts"
import { answersOn } from "./answers.ts"
import { inventedOn, ratingsOn } from "./day.ts"
import { pagesOn } from "./pages.ts"
import { chanceOf, INVENTED_APP, INVENTED_KEYWORDS, INVENTED_RIVALS, numberOf } from "./world.ts"

/** Number of results per keyword. */
const DEPTH = 20

/** Returns the readings of one day: searches, pages of the app and of a rival, and answers of assistants. */
export function readingsOn(day: string): Observation[] {
  return [...INVENTED_KEYWORDS.flatMap((keyword) => searchOn(keyword, day) ?? []), ...pagesOn(day), ...answersOn(day)]
}

function searchOn({ term, rankOn }: (typeof INVENTED_KEYWORDS)[number], day: string): Observation | null {
  const number = numberOf(day)
  const rank = rankOn(number)
  if (rank === undefined) return null
  // two rivals change their position every ten days
  const order = (id: string) => chanceOf(`${term} ${id} ${id.endsWith("7") ? Math.floor(number / 10) : ""}`)
  const rivals = INVENTED_RIVALS.toSorted((a, b) => order(a.id) - order(b.id)).map(({ id, name }): ResultApp => {
    return { id, name, ratings: Math.round(90 + 40_000 * chanceOf(`ratings ${id}`) ** 3), rating: 4.4 }
  })
  const app: ResultApp = { id: INVENTED_APP.id, name: INVENTED_APP.name, ...ratingsOn(day) }
  const results = (rank === null ? rivals : rivals.toSpliced(rank - 1, 0, app)).slice(0, DEPTH)
  return { kind: "search", source: "foreign", ...inventedOn(day, term), term, depth: DEPTH, complete: true, results }
}

/** Returns the popularities of the month before `last`, in the form of Apple's report. */
export function popularityUntil(last: string): Observation[] {
  const month = monthOf(addDays(monthOf(last), -1))
  return INVENTED_KEYWORDS.flatMap(({ term, popularity }): Observation[] => {
    if (popularity === null) return []
    const { platform, seenAt, ...from } = inventedOn(monthOf(last), term)
    return [
      {
        kind: "popularity",
        source: "apple-ads-report",
        platform,
        seenAt,
        ...from,
        term,
        month,
        popularity,
        genres: [],
      },
    ]
  })
}
