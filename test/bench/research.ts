// bun test/bench/research.ts — whether keywords that share apps are found again: of 187 recorded lists of 20 places each keyword is
// hidden from each of its apps in turn, and looked for among the others by what is related to the app's other keywords; and how
// many of the first phrases in names people search for, by Apple's report of 7,500 terms (of which those that stand in one of the
// names are here). The figures are those of the statement and the formula that hive_research_keyword uses. Fails where one, to two
// places, is under its goal.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { NEAR_PLACES, relatedness, weighPhrases } from "../../src/formulas/related-terms.ts"
import { findNeighbours, readTermAnswers } from "../../src/history/searches/neighbours.ts"
import { record } from "../../src/observations/record.ts"
import { csvRecords } from "../../src/vocabulary/csv.ts"
import { phrasesOf } from "../../src/writing/keywords/name-phrases.ts"
import { freshDatabase } from "../database.ts"
import { NOW, reading } from "../observations/measured.ts"

const FIXTURES = join(import.meta.dirname, "../../fixtures/upstream")
const FIRST = 10
/** Keywords that share so many are called related. */
const RELATED_APPS = 3

interface RecordedList {
  term: string
  apps: { id: string; title: string }[]
}

const lists = recordedLists()
const sql = await freshDatabase()
await sql`select open_month(${`${NOW.toISOString().slice(0, 7)}-01`})`
await record(
  sql,
  lists.map(({ term, apps }) => reading(term, NOW.toISOString(), apps.map(({ id }) => id))), // biome-ignore format: one line
  () => NOW,
)
const since = NOW.toISOString().slice(0, 10)
const market = { platform: "ios", storefront: "us", since } as const
const answers = await readTermAnswers(sql, market, lists.map(({ term }) => term), NEAR_PLACES) // biome-ignore format: one line
const shared = new Map<string, Map<string, number>>()
for (const { term, listId, first } of answers.values()) {
  const found = await findNeighbours(sql, market, { listId, apps: first, limit: 1_000 })
  shared.set(term, new Map(found.map((one) => [one.term, one.shared])))
}

const termsOf = new Map<string, string[]>()
for (const { term, apps } of lists) for (const { id } of apps) termsOf.set(id, [...(termsOf.get(id) ?? []), term])
const places = [...termsOf.values()].filter((terms) => terms.length > 1).flatMap((terms) => terms.map((hidden) => placeOf(hidden, terms))) // biome-ignore format: one line
const within = (most: number) => places.filter((place) => place <= most).length / places.length
const reciprocal = places.reduce((sum, place) => sum + 1 / place, 0) / places.length
console.log(
  `${lists.length} lists, ${places.length} hidden keywords: among the first 5 ${within(5).toFixed(3)}, the first ${FIRST} ${within(FIRST).toFixed(3)}, mean reciprocal rank ${reciprocal.toFixed(2)}`,
)

const searched = new Set(reported())
const phrases = new Map(
  lists.map(({ term, apps }) => {
    const weighed = weighPhrases(apps.map(({ title }) => phrasesOf(title, "en")))
    return [term, weighed.flatMap(({ phrase }) => (phrase === term ? [] : [phrase]))] as const
  }),
)
const precision = (most: number) => mean([...phrases.values()].map((of) => shareOf(of.slice(0, most), searched)))
for (const most of [10, 25, 50])
  console.log(`of the first ${most} phrases in names Apple's report has ${precision(most).toFixed(3)}`)
// as if none of them were stored: then names alone can tell of them
const recalls = (most: number) =>
  [...shared].flatMap(([term, of]) => {
    const related = [...of].flatMap(([other, apps]) => (apps >= RELATED_APPS ? [other] : []))
    return related.length === 0 ? [] : [shareOf(related, new Set(phrases.get(term)!.slice(0, most)))]
  })
for (const most of [10, 50, 100]) {
  const all = recalls(most)
  console.log(
    `of the keywords that share ${RELATED_APPS} apps of 20 with one the first ${most} phrases in names have ${mean(all).toFixed(3)} (${all.length} keywords)`,
  )
}
const GOALS = [
  ["a hidden keyword among the first 10", within(FIRST), 0.92],
  ["of the first 10 phrases those that the report has", precision(10), 0.57],
  ["of related keywords those among the first 50 phrases", mean(recalls(50)), 0.5],
] as const
const missed = GOALS.filter(([, reached, goal]) => Number(reached.toFixed(2)) < goal)
for (const [what, reached, goal] of GOALS) console.log(`${what}: ${reached.toFixed(2)} of ${goal}`)
process.exit(missed.length === 0 ? 0 : 1)

function shareOf(some: readonly string[], held: ReadonlySet<string>): number {
  return some.filter((one) => held.has(one)).length / Math.max(1, some.length)
}

function mean(shares: readonly number[]): number {
  return shares.reduce((sum, one) => sum + one, 0) / shares.length
}

/** Where a keyword stands that one of its apps does not tell of, among all that the app does not tell of. */
function placeOf(hidden: string, terms: readonly string[]): number {
  const told = terms.filter((term) => term !== hidden)
  const scores = lists
    .filter(({ term }) => !told.includes(term))
    .map(({ term }) => {
      const score = told.reduce((sum, other) => {
        // the app itself stands in both, and is what is not known
        const apps = (shared.get(term)?.get(other) ?? 0) - (term === hidden ? 1 : 0)
        return sum + relatedness(apps, sizeOf(term), sizeOf(other))
      }, 0)
      return { term, score }
    })
  const own = scores.find(({ term }) => term === hidden)!.score
  // what is level with it stands before it: no luck counts
  return scores.filter(({ term, score }) => term !== hidden && score >= own).length + 1
}

function sizeOf(term: string): number {
  return answers.get(term)!.results
}

function recordedLists(): RecordedList[] {
  const text = Bun.gunzipSync(readFileSync(join(FIXTURES, "search-lists-us-2025-10-25.csv.gz")))
  const [, ...rows] = [...csvRecords(new TextDecoder().decode(text))].flatMap(({ fields }) => (fields ? [fields] : []))
  const lists = Map.groupBy(rows, ([term]) => term!)
  return [...lists].map(([term, of]) => ({ term, apps: of.map(([, id, title]) => ({ id: id!, title: title! })) }))
}

function reported(): string[] {
  return readFileSync(join(FIXTURES, "apple-ads-search-terms-us-2025-09-named.txt"), "utf8").trimEnd().split("\n")
}
