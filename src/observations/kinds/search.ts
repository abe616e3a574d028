import * as v from "valibot"
import { dayOf, monthOf } from "../../formulas/days.ts"
import { checkSearch } from "../check-legacy.ts"
import { deriveMonths } from "../derive-month.ts"
import type { Identified } from "../identified.ts"
import { checkTerm } from "../invariants.ts"
import { kind } from "../kind.ts"
import { searchOf } from "../line-readers.ts"
import { SHAPES } from "../line-shapes.ts"
import { storeSearches } from "../record-searches.ts"
import { RANK_SOURCES, type SearchObservation } from "../types.ts"

export interface SearchQuestion {
  storefront: string
  term: string
}

export const search = kind<SearchObservation, SearchQuestion>({
  name: "search",
  sources: RANK_SOURCES,
  private: false,
  figures: true,
  demo: true,
  monthly: true,
  shape: v.strictObject({}),
  lineShape: SHAPES.search,
  readLine: searchOf as never,
  check: checkSearch,
  question: { about: ({ term }) => term, checkSubject: (subject) => checkTerm(subject) },
  names: (seen) => ({ list: seen, apps: idsIn(seen) }),
  weight: ({ results }) => results.length,
  async store(tx, readings, known) {
    const shown = await storeSearches(tx, readings, known)
    return { placed: shown.map(({ from }) => from), shown, named: readings.map((from) => namedIn(from, known)) }
  },
  async derive(tx, { placed }, { listOf }) {
    await deriveMonths(
      tx,
      placed.map((from) => ({ listId: listOf(from), month: monthOf(dayOf(from.seenAt)) })),
    )
  },
  example: {},
})

function idsIn({ results }: SearchObservation): string[] {
  return results.map(({ id }) => id)
}

/** Also of readings that are known or outdone: what they call apps must not follow the order of coming. */
function namedIn(from: SearchObservation, { appOf }: Identified) {
  return { from, apps: from.results, appIds: idsIn(from).map((id) => appOf(from.platform, id)) }
}
