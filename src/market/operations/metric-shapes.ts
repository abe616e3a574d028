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

/** Describes a metric as a whole number up to 100, or null. */
export const figure = (least: number, text: string) =>
  described(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(100))), text)

const State = v.picklist(["measured", "absent", "unmeasured"])
const part = (text: string) => described(v.nullable(v.number()), text)

const Reading = named(
  "MetricReading",
  v.strictObject({
    source: Source,
    seenAt: Time,
    prefix: v.optional(described(v.string(), "The typed prefix of suggestions.")),
    sha256: described(v.string(), "Hash of the response body."),
  }),
)

const Attempt = named(
  "MetricAttempt",
  v.strictObject({
    at: Time,
    of: described(v.picklist(READ_PARTS), "What was requested. The ratings of the first ten results count as ratings."),
    outcome: described(
      v.picklist(["read", "incomplete", ...OUTCOMES]),
      "read: successful, whatever the result; incomplete: interrupted; other values: failed, which does not " +
        "describe the keyword.",
    ),
  }),
)

const standing = {
  state: described(
    State,
    "measured: there is a figure or a band; absent: all required data was read and gives none; unmeasured: not read.",
  ),
  measuredAt: described(v.nullable(Time), "Time of the newest reading behind it. Null if unmeasured."),
  stale: described(
    v.nullable(v.boolean()),
    `True if older than ${FRESH_DAYS} days, or if a later month should be published. Null if unmeasured.`,
  ),
  staleAt: described(v.nullable(Time), "Time from which it is stale. Null if unmeasured."),
  lastAttempt: described(
    v.nullable(Attempt),
    "The latest attempt of this instance to read the required data. Null if there was none.",
  ),
}

const evidenceFields = {
  formula: described(v.nullable(v.pipe(v.number(), v.integer())), "Version of the formula. Null if none was used."),
  readings: described(v.array(Reading), "The readings used, as far as they are still stored."),
  ratings: described(
    v.nullable(ReadingSpan),
    "Source of rating counts that did not come with the results. Null if there are none.",
  ),
}

export const PopularityStanding = named(
  "PopularityStanding",
  v.strictObject({
    ...standing,
    basis: described(
      v.nullable(v.picklist(["published", "estimate"])),
      "published: Apple's monthly report, 1 to 100; estimate: a calculated band on the scale of Apple Ads, 5 to " +
        "100. Null if unmeasured.",
    ),
    band: described(
      v.nullable(v.strictObject({ low: v.number(), high: v.number() })),
      `Estimated band, inclusive and right in 4 of 5 cases; there is no single figure. ${AT_FLOOR} Null if not an ` +
        "estimate.",
    ),
    month: described(v.nullable(v.string()), "Month of a published figure, YYYY-MM. Null for others."),
    evidence: described(
      v.nullable(
        v.strictObject({
          ...evidenceFields,
          error: described(
            v.nullable(
              v.strictObject({
                terms: described(v.number(), "Number of Apple Ads terms used for the check, all in the United States."),
                correlation: described(v.number(), "Rank correlation of the scores with Apple's figures."),
                held: described(
                  v.number(),
                  "Share of these terms whose Apple figure lies within a band fitted to other terms.",
                ),
                points: described(v.number(), "Error of the best single figure: root mean square, in points."),
                constant: described(v.number(), "The same error if every term is given one constant."),
              }),
            ),
            "Error of the formula. Null for a published figure.",
          ),
          parts: described(
            v.nullable(
              v.strictObject({
                demand: part("0 to 100: demand from the ratings of the first ten. Null if not read."),
                prefixDepth: part("0 to 100: how early the store suggests the keyword. Null if not read."),
                hintCount: part("0 to 100: how many suggestions extend the keyword. Null if not read."),
                blend: part("Weighted mean of the parts."),
              }),
            ),
            "Parts of an estimate. Null for a published figure.",
          ),
          genres: described(
            v.nullable(v.array(v.strictObject({ genre: v.string(), rank: v.number(), popularity: v.number() }))),
            "Genres that list a published figure. Null for an estimate.",
          ),
        }),
      ),
      "Null if unmeasured.",
    ),
  }),
)

export const DifficultyStanding = named(
  "DifficultyStanding",
  v.strictObject({
    ...standing,
    band: described(v.nullable(DifficultyBand), "Null if difficulty is null."),
    evidence: described(
      v.nullable(
        v.strictObject({
          ...evidenceFields,
          error: described(v.null(), "Always null: there is no published difficulty to compare with."),
          parts: v.strictObject({
            results: described(v.number(), "Number of the first ten places taken."),
            titles: part("0 to 100: how closely the ten names match the keyword."),
            weakest: part("0 to 100: rating counts of the three weakest, on a logarithmic scale."),
            freshness: part("0 to 100: how recently they were updated. Null if unknown for most."),
          }),
        }),
      ),
      "Null if unmeasured.",
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
  // a component figure that was recalculated since then no longer belongs to this figure
  const made = figures.filter(({ metric, seenAt }) => of[metric] === seenAt.toISOString())
  const { terms, correlation, held: bandShare, line, constant } = CHECKED
  return {
    formula: figure.formula,
    readings: made.flatMap(({ parts }) => (parts as ReadingParts).read),
    ratings: made.map(({ parts }) => (parts as ReadingParts).ratings).find(Boolean) ?? null,
    error: { terms, correlation, held: bandShare, points: line.error, constant: constant.error },
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
