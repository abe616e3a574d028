// bun test/bench/research.ts — measures hive_research_keyword in two ways.
// 1. Whether keywords that share apps are found again. Each keyword of 187 recorded lists of 20 places is hidden from
//    each of its apps in turn, and searched among the other keywords by their relation to the app's remaining keywords.
//    The app itself is left out.
// 2. How many of the first phrases in names people search for, according to Apple's report of 7,500 terms. The fixture
//    has those that occur in a name.
// Prints the figures of rejected formulas, then those of the product's, for all keywords and for each half. Fails if
// one of the product's misses its goal.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { NEAR_PLACES, weighPhrases } from "../../src/keywords/formulas/related-terms.ts"
import { findNeighbours, readTermAnswers } from "../../src/keywords/read/neighbours.ts"
import { csvRecords } from "../../src/lib/csv.ts"
import { phrasesOf } from "../../src/listings/formulas/name-phrases.ts"
import { freshDatabase } from "../database.ts"
import { NOW, reading } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import {
  type Found,
  findHidden,
  formulasOver,
  halvesOf,
  meanReciprocal,
  type RecordedList,
  shareWithin,
} from "./research-formulas.ts"

const FIXTURES = join(import.meta.dirname, "../../fixtures/upstream")
const FIRST = 10
/** Keywords that share at least this many apps are related. */
const RELATED_APPS = 3

const lists = recordedLists()
const appsOf = new Map(lists.map(({ term, apps }) => [term, apps]))
const sql = await freshDatabase()
await sql`select open_month(${`${NOW.toISOString().slice(0, 7)}-01`})`
await record(
  sql,
  lists.map(({ term, apps }) =>
    reading(
      term,
      NOW.toISOString(),
      apps.map(({ id }) => id),
    ),
  ),
  () => NOW,
)
const since = NOW.toISOString().slice(0, 10)
const market = { platform: "ios", storefront: "us", since } as const
const answers = await readTermAnswers(
  sql,
  market,
  lists.map(({ term }) => term),
  NEAR_PLACES,
)
const neighboursOf = async (term: string, excludedId?: string) => {
  const { listId, first } = answers.get(term)!
  const apps = first.filter((_, at) => appsOf.get(term)![at]!.id !== excludedId)
  return await findNeighbours(sql, market, { listId, apps, least: 0, limit: lists.length })
}
const shared = new Map<string, Map<string, number>>()
for (const { term } of lists)
  shared.set(term, new Map((await neighboursOf(term)).map((neighbour) => [neighbour.term, neighbour.shared])))

console.log(`Of hidden keywords those among the first ${FIRST}, and the mean reciprocal rank:`)
const tried = []
for (const [name, closeness] of formulasOver(lists)) {
  const found = await findHidden(lists, closeness)
  const halves = halvesOf(lists, found)
  tried.push({ name, halves })
  console.log(`by ${name}: ${figures(found)}; in either half ${halves.map(figures).join(", ")}`)
}
for (const [chosenOn, otherHalf] of [
  [0, 1],
  [1, 0],
] as const) {
  const best = tried.toSorted(
    (a, b) => shareWithin(b.halves[chosenOn], FIRST) - shareWithin(a.halves[chosenOn], FIRST),
  )[0]!
  console.log(`the best of half ${chosenOn + 1} is ${best.name}: of the other half ${figures(best.halves[otherHalf])}`)
}
const hidden = await findHidden(
  lists,
  async (term, excludedId) =>
    new Map((await neighboursOf(term, excludedId)).map((neighbour) => [neighbour.term, neighbour.closeness])),
)
const halves = halvesOf(lists, hidden)
console.log(
  `${lists.length} lists, ${hidden.length} hidden keywords, by the statement: ` +
    `${figures(hidden)}, among the first 5 ${shareWithin(hidden, 5).toFixed(4)}`,
)

const searched = new Set(readReport())
const phrases = new Map(
  lists.map(({ term, apps }) => {
    const weighed = weighPhrases(apps.map(({ title }) => phrasesOf(title, "en")))
    return [term, weighed.flatMap(({ phrase }) => (phrase === term ? [] : [phrase]))] as const
  }),
)
const precision = (limit: number) => mean([...phrases.values()].map((list) => shareOf(list.slice(0, limit), searched)))
for (const limit of [10, 25, 50])
  console.log(`of the first ${limit} phrases in names Apple's report has ${precision(limit).toFixed(3)}`)
// as if none of the lists were stored, so that only names can show the relation
const recalls = (limit: number) =>
  [...shared].flatMap(([term, counts]) => {
    const related = [...counts].flatMap(([other, apps]) => (apps >= RELATED_APPS ? [other] : []))
    return related.length === 0 ? [] : [shareOf(related, new Set(phrases.get(term)!.slice(0, limit)))]
  })
for (const limit of [10, 50, 100]) {
  const all = recalls(limit)
  console.log(
    `of the keywords that share ${RELATED_APPS} apps of 20 with one the first ${limit} phrases in names have ` +
      `${mean(all).toFixed(3)} (${all.length} keywords)`,
  )
}
const GOALS = [
  ["a hidden keyword among the first 10", shareWithin(hidden, FIRST), 0.92],
  ["the same in the first half", shareWithin(halves[0], FIRST), 0.92],
  ["the same in the second half", shareWithin(halves[1], FIRST), 0.92],
  ["of the first 10 phrases those that the report has", precision(10), 0.57],
  ["of related keywords those among the first 50 phrases", mean(recalls(50)), 0.5],
] as const
const missed = GOALS.filter(([, reached, goal]) => reached < goal)
for (const [label, reached, goal] of GOALS) console.log(`${label}: ${reached.toFixed(4)} of ${goal}`)
process.exit(missed.length === 0 ? 0 : 1)

function shareOf(values: readonly string[], reference: ReadonlySet<string>): number {
  return values.filter((value) => reference.has(value)).length / Math.max(1, values.length)
}

function mean(shares: readonly number[]): number {
  return shares.reduce((sum, share) => sum + share, 0) / shares.length
}

function figures(found: readonly Found[]): string {
  return `${shareWithin(found, FIRST).toFixed(4)} (${meanReciprocal(found).toFixed(3)})`
}

function recordedLists(): RecordedList[] {
  const text = Bun.gunzipSync(readFileSync(join(FIXTURES, "search-lists-us-2025-10-25.csv.gz")))
  const [, ...rows] = [...csvRecords(new TextDecoder().decode(text))].flatMap(({ fields }) => (fields ? [fields] : []))
  const lists = Map.groupBy(rows, ([term]) => term!)
  return [...lists].map(([term, entries]) => ({
    term,
    apps: entries.map(([, id, title]) => ({ id: id!, title: title! })),
  }))
}

function readReport(): string[] {
  return readFileSync(join(FIXTURES, "apple-ads-search-terms-us-2025-09-named.txt"), "utf8").trimEnd().split("\n")
}
