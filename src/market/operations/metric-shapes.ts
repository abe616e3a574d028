import * as v from "valibot"
import { OUTCOMES } from "../../core/observation/attempt.ts"
import type { DifficultyParts } from "../../keywords/formulas/difficulty.ts"
import { bandOf } from "../../keywords/formulas/difficulty.ts"
import type { PopularityParts } from "../../keywords/formulas/popularity.ts"
import { CHECKED, popularityBand } from "../../keywords/formulas/popularity.ts"
import type { ReadAttempt, ReadPart, StoredFigure } from "../../keywords/read/keyword-standing.ts"
import { READ_PARTS } from "../../keywords/read/keyword-standing.ts"
import { addDays } from "../../lib/days.ts"
import { AT_FLOOR } from "../../lib/figure-bands.ts"
import { described, named } from "../../lib/schema.ts"
import { DAY_MS } from "../../lib/time.ts"
import { DifficultyBand, ReadingSpan, Source, Time } from "../../tracking/shapes.ts"

/** A calculated figure is fresh for this many days after its latest reading. */
export const FRESH_DAYS = 7
/** A published monthly figure is fresh for this many days from the first of its month, until the next report is out. */
const FRESH_MONTH_DAYS = 63

/** A metric as a whole number. */
export const figure = (least: number, text: string) =>
  described(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(100))), text)

const State = v.picklist(["measured", "absent", "unmeasured"])
const part = (text: string) => described(v.nullable(v.number()), text)

const Reading = named(
  "MetricReading",
  v.strictObject({
    source: Source,
    seenAt: Time,
    prefix: v.optional(described(v.string(), "Of suggestions: what was typed.")),
    sha256: described(v.string(), "Of the body that was read."),
  }),
)

const Attempt = named(
  "MetricAttempt",
  v.strictObject({
    at: Time,
    of: described(v.picklist(READ_PARTS), "What was to be read: the first ten results' ratings count as ratings."),
    outcome: described(
      v.picklist(["read", "incomplete", ...OUTCOMES]),
      "read = it worked, whatever it gave; incomplete = it broke off; any other = it failed, and says nothing of the keyword.",
    ),
  }),
)

const standing = {
  state: described(
    State,
    "measured = there is a figure, or a band; absent = all that it needs was read, and gives none; unmeasured = it was not read.",
  ),
  measuredAt: described(v.nullable(Time), "When the youngest reading behind it was seen; null = unmeasured."),
  stale: described(
    v.nullable(v.boolean()),
    `It is older than ${FRESH_DAYS} days, or a month for which a later one should be out. Null = unmeasured.`,
  ),
  staleAt: described(v.nullable(Time), "From when on it is stale; null = unmeasured."),
  lastAttempt: described(v.nullable(Attempt), "The last time this instance tried to read what it needs; null = never."),
}

const evidenceFields = {
  formula: described(v.nullable(v.pipe(v.number(), v.integer())), "Version of the formula; null = no formula made it."),
  readings: described(v.array(Reading), "What it was made of, as far as it is still held."),
  ratings: described(
    v.nullable(ReadingSpan),
    "Where rating counts come from that did not come with the results; null = none did.",
  ),
}

export const PopularityStanding = named(
  "PopularityStanding",
  v.strictObject({
    ...standing,
    basis: described(
      v.nullable(v.picklist(["published", "estimate"])),
      "published = Apple's monthly report, 1 to 100; estimate = a band by our formula, on Apple Ads' other scale of 5 to 100. Null = unmeasured.",
    ),
    band: described(
      v.nullable(v.strictObject({ low: v.number(), high: v.number() })),
      `Of an estimate: where it lies in 4 of 5 cases, both ends included; no number can be given. ${AT_FLOOR} Else null.`,
    ),
    month: described(v.nullable(v.string()), "YYYY-MM that a published one stands for; else null."),
    evidence: described(
      v.nullable(
        v.strictObject({
          ...evidenceFields,
          error: described(
            v.nullable(
              v.strictObject({
                terms: described(v.number(), "Checked on so many terms of Apple Ads, all of the United States."),
                correlation: described(v.number(), "How well the order of the scores goes with Apple's there."),
                held: described(v.number(), "What share of them lies within bands that were drawn on others."),
                points: described(v.number(), "The error of the best single figure: root mean square, in points."),
                constant: described(v.number(), "That of a constant."),
              }),
            ),
            "Of the formula; null for a published figure.",
          ),
          parts: described(
            v.nullable(
              v.strictObject({
                demand: part("0 to 100: what the first ten's ratings come to; null = not read."),
                prefixDepth: part("0 to 100: how early the store suggests it; null = not read."),
                hintCount: part("0 to 100: how many suggestions extend it; null = not read."),
                blend: part("Their weighted mean."),
              }),
            ),
            "Of an estimate; null for a published figure.",
          ),
          genres: described(
            v.nullable(v.array(v.strictObject({ genre: v.string(), rank: v.number(), popularity: v.number() }))),
            "Of a published figure: genres whose list names it; null for an estimate.",
          ),
        }),
      ),
      "Null = unmeasured.",
    ),
  }),
)

export const DifficultyStanding = named(
  "DifficultyStanding",
  v.strictObject({
    ...standing,
    band: described(v.nullable(DifficultyBand), "Null where difficulty is."),
    evidence: described(
      v.nullable(
        v.strictObject({
          ...evidenceFields,
          error: described(v.null(), "Always null: nobody publishes a difficulty to hold it against."),
          parts: v.strictObject({
            results: described(v.number(), "How many of the first ten places are taken."),
            titles: part("0 to 100: how far the ten names are about the keyword."),
            weakest: part("0 to 100: the ratings of the three weakest, by their logarithm."),
            freshness: part("0 to 100: how lately they were updated; null = not known of most."),
          }),
        }),
      ),
      "Null = unmeasured.",
    ),
  }),
)

interface KeywordFacts {
  figures: readonly StoredFigure[]
  attempts: readonly ReadAttempt[]
  now: Date
}

/** A published figure takes precedence over an estimate. */
export function popularityOf({ figures, attempts, now }: KeywordFacts) {
  const figure = figures.find(({ metric }) => metric === "popularity")
  const published = figure?.formula === 0
  return {
    score: published ? figure.score : null,
    standing: {
      ...standingOf(figure, now, lastOf(attempts, READ_PARTS)),
      basis: figure ? basisOf(figure) : null,
      band: published || figure?.score == null ? null : popularityBand("ios", figure.score),
      month: published ? figure.day.slice(0, 7) : null,
      evidence: figure ? popularityEvidence(figure, figures) : null,
    } satisfies v.InferInput<typeof PopularityStanding>,
  }
}

export function difficultyOf({ figures, attempts, now }: KeywordFacts) {
  const figure = figures.find(({ metric }) => metric === "difficulty")
  const score = figure?.score ?? null
  return {
    score,
    standing: {
      ...standingOf(figure, now, lastOf(attempts, ["results", "ratings"])),
      band: score === null ? null : bandOf(score),
      evidence: figure ? difficultyEvidence(figure) : null,
    } satisfies v.InferInput<typeof DifficultyStanding>,
  }
}

function standingOf(figure: StoredFigure | undefined, now: Date, lastAttempt: v.InferInput<typeof Attempt> | null) {
  if (!figure) return { state: "unmeasured" as const, measuredAt: null, stale: null, staleAt: null, lastAttempt }
  const staleAt = staleFrom(figure)
  return {
    state: figure.score === null ? ("absent" as const) : ("measured" as const),
    measuredAt: figure.seenAt.toISOString(),
    stale: now >= staleAt,
    staleAt: staleAt.toISOString(),
    lastAttempt,
  }
}

/** Returns the time from which a figure is stale. */
function staleFrom({ formula, day, seenAt }: Pick<StoredFigure, "formula" | "day" | "seenAt">): Date {
  if (formula === 0) return new Date(`${addDays(day, FRESH_MONTH_DAYS)}T00:00:00.000Z`)
  return new Date(seenAt.getTime() + FRESH_DAYS * DAY_MS)
}

function basisOf({ formula }: StoredFigure) {
  return formula === 0 ? ("published" as const) : ("estimate" as const)
}

function lastOf(attempts: readonly ReadAttempt[], parts: readonly ReadPart[]): v.InferInput<typeof Attempt> | null {
  const [last] = attempts.filter(({ of }) => parts.includes(of)).toSorted((a, b) => b.at.getTime() - a.at.getTime())
  return last ? { at: last.at.toISOString(), of: last.of, outcome: last.outcome } : null
}

function popularityEvidence(figure: StoredFigure, figures: readonly StoredFigure[]) {
  if (figure.formula === 0) {
    const { sha256, genres = [] } = figure.parts as { sha256: string; genres?: PublishedGenre[] }
    const reading = { source: figure.source as "apple-ads-report", seenAt: figure.seenAt.toISOString(), sha256 }
    return { formula: null, readings: [reading], ratings: null, error: null, parts: null, genres }
  }
  const { of, demand, prefixDepth, hintCount, blend } = figure.parts as EstimateParts
  // a component that was recalculated since then no longer belongs to this figure
  const made = figures.filter(({ metric, seenAt }) => of[metric] === seenAt.toISOString())
  const { terms, correlation, held, line, constant } = CHECKED
  return {
    formula: figure.formula,
    readings: made.flatMap(({ parts }) => (parts as ReadingParts).read),
    ratings: made.map(({ parts }) => (parts as ReadingParts).ratings).find(Boolean) ?? null,
    error: { terms, correlation, held, points: line.error, constant: constant.error },
    parts: { demand, prefixDepth, hintCount, blend },
    genres: null,
  }
}

function difficultyEvidence({ formula, parts }: StoredFigure) {
  const { read, ratings = null, ...made } = parts as ReadingParts & DifficultyParts
  const { results, titles, weakest, freshness } = made
  return { formula, readings: read, ratings, error: null, parts: { results, titles, weakest, freshness } }
}

type PublishedGenre = { genre: string; rank: number; popularity: number }

type EstimateParts = PopularityParts & {
  /** Time of each component figure, by metric. */
  of: Partial<Record<StoredFigure["metric"], string>>
}

/** Readings that every calculated figure lists. */
type ReadingParts = {
  read: v.InferInput<typeof Reading>[]
  ratings?: v.InferInput<typeof ReadingSpan>
}
