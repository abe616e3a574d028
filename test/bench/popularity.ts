// bun test/bench/popularity.ts CORPUS OBSERVATIONS — how well the score of a keyword predicts Apple Ads' search
// popularity (5 to 100). The two files are data/calibration_corpus.json and data/demand_observations.json of the public
// project SquashVash/ASO-Tool-CLI at ba7c866: the first has the store's suggestions for a term and the median rating
// count of its first ten apps, the second Apple's figure, both of August 2026 and the United States. Its author gives
// no licence, so the files are not part of the project. Our rating mass decreases with the place: the 187 lists of
// fixtures/upstream/search-ratings-us-2025-10-25.jsonl, with both values, convert a median to its scale.
import { readFileSync } from "node:fs"
import { demandOf, demandScale } from "../../src/keywords/formulas/demand.ts"
import { CHECKED, estimatePopularity } from "../../src/keywords/formulas/popularity.ts"
import { POPULARITY_BANDS } from "../../src/lib/figure-bands.ts"
import { calibratedTerms, interval, randomFrom, spearman } from "../market/formulas/calibration.ts"

interface CorpusTerm {
  keyword: string
  /** 100 · log10(1 + median) / 6, at most 100. Null if not read. */
  comp_rating_count: number | null
  /** The number of typed letters after which the store suggests the term. Null if it never does. */
  search_prefix_depth: number | null
  search_hint_extensions: number | null
}

interface Scored {
  score: number
  apple: number
}

const FLOOR = 5
const HALVES = 200
const FOLDS = 10

const [corpus, observations] = process.argv.slice(2)
if (!corpus || !observations) throw new Error("name the two files: their source stands at the head of this one")
const terms = scoredTerms(readList<CorpusTerm>(corpus, "keywords"))
const [scores, apples] = [terms.map(({ score }) => score), terms.map(({ apple }) => apple)]
const [low, high] = interval(terms, orderOf)
console.log(`${terms.length} terms, ${apples.filter((apple) => apple < 10).length} of them below 10 in Apple Ads`)
console.log(`rank correlation ${spearman(scores, apples).toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`)
const [line, constant] = [errorOf(risingLine), errorOf((training) => () => mean(training.map(({ apple }) => apple)))]
console.log(`error on terms left out: ${line.toFixed(1)} of the best rising line, ${constant.toFixed(1)} of a constant`)
console.log("band: terms with such a score, of which so many lie within")
POPULARITY_BANDS.forEach(({ from, low, high }, i) => {
  const band = terms.filter(({ score }) => score >= from && score < (POPULARITY_BANDS[i + 1]?.from ?? 101))
  const inInterval = band.filter(({ apple }) => apple >= low && apple <= high)
  const atFloor = band.filter(({ apple }) => apple <= POPULARITY_BANDS[0]!.high)
  console.log(`  from ${from}: ${low} to ${high}: ${band.length}, ${inInterval.length}, at the floor ${atFloor.length}`)
})
console.log(`bands drawn on one half hold of the other: ${coverageByHalves().toFixed(2)} (${HALVES} halves)`)
console.log(`stated: ${JSON.stringify(CHECKED)}`)

function readList<T>(file: string, list: string): T[] {
  return (JSON.parse(readFileSync(file, "utf8")) as Record<string, T[]>)[list] as T[]
}

function scoredTerms(corpus: CorpusTerm[]): Scored[] {
  const apples = new Map(
    readList<{ source: string; keyword: string; value: number }>(observations as string, "observations")
      .filter(({ source }) => source === "apple")
      .map(({ keyword, value }) => [keyword, Math.max(FLOOR, value)]),
  )
  const demandAt = risingLine(
    calibratedTerms().map(({ ratings }) => ({ score: medianScale(ratings), apple: demand(ratings) })),
  )
  return corpus.flatMap(({ keyword, comp_rating_count: mass, search_prefix_depth, search_hint_extensions }) => {
    const apple = apples.get(keyword)
    if (apple === undefined || mass === null) return []
    const figure = estimatePopularity({
      // the rating mass that gives this demand
      ratingMass: 10 ** ((7.5 * demandAt(mass)) / 100) - 1,
      hints: {
        hintCount: search_hint_extensions ?? 0,
        prefixDepth: search_prefix_depth,
        suggested: search_prefix_depth !== null,
        finished: true,
      },
    })
    return figure?.score == null ? [] : [{ score: figure.score, apple }]
  })
}

function medianScale(ratings: readonly number[]): number {
  const first = ratings.slice(0, 10).toSorted((a, b) => a - b)
  const middle = (first[Math.floor((first.length - 1) / 2)]! + first[Math.ceil((first.length - 1) / 2)]!) / 2
  return Math.min(100, (100 * Math.log10(1 + middle)) / 6)
}

function demand(ratings: readonly number[]): number {
  return demandScale(demandOf(ratings)?.parts.ratingMass ?? 0)
}

function orderOf(sample: Scored[]): number {
  return spearman(
    sample.map(({ score }) => score),
    sample.map(({ apple }) => apple),
  )
}

/**
 * Returns the rising step line of least squares (falling neighbours are pooled), interpolated between the middles of
 * the pools.
 */
function risingLine(pairs: readonly Scored[]): (score: number) => number {
  const pools: { x: number; y: number; n: number }[] = [{ x: 0, y: 0, n: 0 }].slice(1)
  for (const { score, apple } of pairs.toSorted((a, b) => a.score - b.score)) {
    pools.push({ x: score, y: apple, n: 1 })
    while (pools.length > 1 && pools.at(-2)!.y >= pools.at(-1)!.y) {
      const [b, a] = [pools.pop()!, pools.pop()!]
      const n = a.n + b.n
      pools.push({ x: (a.x * a.n + b.x * b.n) / n, y: (a.y * a.n + b.y * b.n) / n, n })
    }
  }
  return (score) => {
    const after = pools.findIndex(({ x }) => x >= score)
    if (after === 0) return pools[0]!.y * Math.min(1, score / Math.max(1, pools[0]!.x))
    if (after === -1) return pools.at(-1)!.y
    const [a, b] = [pools[after - 1]!, pools[after]!]
    return a.y + ((b.y - a.y) * (score - a.x)) / (b.x - a.x || 1)
  }
}

/** Returns the root mean square error on terms that were not used for the fit. */
function errorOf(fit: (training: Scored[]) => (score: number) => number): number {
  const mixed = shuffle(terms, randomFrom(1))
  const errors = mixed.map(({ score, apple }, at) => {
    const line = fit(mixed.filter((_, other) => other % FOLDS !== at % FOLDS))
    return line(score) - apple
  })
  return Math.sqrt(mean(errors.map((error) => error ** 2)))
}

/** Returns the share of terms within bands from the 10th to the 90th percentile of the other half. */
function coverageByHalves(): number {
  const random = randomFrom(2)
  const shares = Array.from({ length: HALVES }, () => {
    const mixed = shuffle(terms, random)
    const [drawn, tried] = [mixed.slice(0, mixed.length / 2), mixed.slice(mixed.length / 2)]
    const classOf = ({ score }: Scored) => POPULARITY_BANDS.findLastIndex(({ from }) => score >= from)
    const covered = tried.filter((term) => {
      const sameClass = drawn.filter((other) => classOf(other) === classOf(term)).map(({ apple }) => apple)
      const sorted = sameClass.toSorted((a, b) => a - b)
      const quantile = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN
      return term.apple >= quantile(0.1) && term.apple <= quantile(0.9)
    })
    return covered.length / tried.length
  })
  return mean(shares)
}

function shuffle<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
