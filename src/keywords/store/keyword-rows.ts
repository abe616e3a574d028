import type { Platform } from "../../core/observation/provenance.ts"
import { DEMAND_FORMULA, demandOf } from "../formulas/demand.ts"
import { DIFFICULTY_FORMULA, difficultyOf } from "../formulas/difficulty.ts"
import { HINTS_FORMULA, type Hints, hintsOf } from "../formulas/hint-ladder.ts"
import { estimatePopularity, POPULARITY_FORMULA } from "../formulas/popularity.ts"
import { ESTIMATE } from "./keyword-figures.ts"
import type { HintAnswer, KeywordInputs, Results } from "./keyword-inputs.ts"

const METRICS = ["demand", "difficulty", "hints", "popularity"] as const

/** The source of figures calculated from readings. A popularity has ESTIMATE instead. */
export const CALCULATED = "calculated"

export interface MetricRow {
  listId: number
  metric: (typeof METRICS)[number]
  source: string
  /** Time of the latest reading that the figure is based on. */
  seenAt: Date
  score: number | null
  formula: number
  /**
   * `read`: the readings that were used; `ratings`: other sources of counts; `of`: the figures that were used, with
   * their `seen_at`.
   */
  parts: Record<string, unknown>
}

/** Returns the figures of a keyword's inputs. Figures that lack an input are left out. */
export function metricRows(
  { platform, listId, ...inputs }: KeywordInputs & { platform: Platform },
  now: Date,
): MetricRow[] {
  const hints = hintsRow(inputs)
  const demand = demandRow(inputs)
  const rows = [hints, demand, difficultyRow(inputs, now), popularityRow(platform, hints, demand)]
  return rows.flatMap((row) => (row ? { listId, ...row } : []))
}

type NewMetricRow = Omit<MetricRow, "listId">
type Inputs = Omit<KeywordInputs, "listId">

function hintsRow({ term, hints: answers }: Inputs): (NewMetricRow & { hints: Hints }) | undefined {
  const hints = hintsOf(term, new Map(answers.map(({ prefix, terms }) => [prefix, terms])))
  if (!hints) return undefined
  const { prefixes, ...parts } = hints
  const read = answers.filter(({ prefix }) => prefixes.includes(prefix))
  return {
    metric: "hints",
    source: CALCULATED,
    seenAt: youngest(read.map(({ seenAt }) => seenAt)),
    score: hints.hintCount,
    formula: HINTS_FORMULA,
    parts: { ...parts, read: read.map(evidence) },
    hints,
  }
}

function demandRow({ results }: Inputs): (NewMetricRow & { mass: number | null }) | undefined {
  const figure = results && demandOf(results.slots.map(({ ratings }) => ratings))
  if (!figure) return undefined
  const { score, parts } = figure
  return {
    metric: "demand",
    source: CALCULATED,
    seenAt: youngest([results.seenAt, ...ratedAt(results)]),
    score,
    formula: DEMAND_FORMULA,
    parts: { ...parts, read: [evidence(results)], ...ratingsRead(results) },
    mass: parts.ratingMass ?? 0,
  }
}

function difficultyRow({ term, results }: Inputs, now: Date): NewMetricRow | undefined {
  const figure = results && difficultyOf(term, results.slots, now)
  if (!figure) return undefined
  const { score, parts } = figure
  return {
    metric: "difficulty",
    source: CALCULATED,
    seenAt: youngest([results.seenAt, ...ratedAt(results)]),
    score,
    formula: DIFFICULTY_FORMULA,
    parts: { ...parts, read: [evidence(results)], ...ratingsRead(results) },
  }
}

function popularityRow(
  platform: Platform,
  hints: ReturnType<typeof hintsRow>,
  demand: ReturnType<typeof demandRow>,
): NewMetricRow | undefined {
  // For Google Play only the fully typed term is requested. If it is not suggested, that means little, so the depth
  // counts as not read.
  const read = hints ? { ...hints.hints, ...(platform === "android" && { prefixDepth: null, finished: false }) } : null
  const figure = estimatePopularity({ ratingMass: demand?.mass ?? null, hints: read })
  if (!figure) return undefined
  const made = [demand, hints].flatMap((row) => row ?? [])
  return {
    metric: "popularity",
    source: ESTIMATE,
    seenAt: youngest(made.map(({ seenAt }) => seenAt)),
    score: figure.score,
    formula: POPULARITY_FORMULA,
    parts: {
      ...figure.parts,
      of: Object.fromEntries(made.map(({ metric, seenAt }) => [metric, seenAt.toISOString()])),
    },
  }
}

function evidence({
  source,
  seenAt,
  sha256,
  prefix,
}: Partial<HintAnswer> & Pick<HintAnswer, "source" | "seenAt" | "sha256">) {
  return { source, ...(prefix !== undefined && { prefix }), seenAt: seenAt.toISOString(), sha256 }
}

/** Returns the sources and times of rating counts that came with readings other than this one. */
function ratingsRead({ slots, source, seenAt }: Results) {
  const otherSlots = slots.filter(({ ratedBy, ratedAt }) => ratedAt && (ratedBy !== source || +ratedAt !== +seenAt))
  if (otherSlots.length === 0) return {}
  const times = otherSlots.map(({ ratedAt }) => (ratedAt as Date).toISOString()).sort()
  return {
    ratings: {
      sources: [...new Set(otherSlots.map(({ ratedBy }) => ratedBy))].sort(),
      from: times[0],
      to: times.at(-1),
    },
  }
}

function ratedAt({ slots }: Results): Date[] {
  return slots.flatMap(({ ratedAt }) => ratedAt ?? [])
}

function youngest(times: readonly Date[]): Date {
  return new Date(Math.max(...times.map((at) => at.getTime())))
}
