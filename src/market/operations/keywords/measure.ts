import * as v from "valibot"
import { type Context, operation, pending } from "../../../core/operation.ts"
import { deadlineOf } from "../../../core/read-on-request.ts"
import { readAttempts, readFigures } from "../../../keywords/read/keyword-standing.ts"
import { dayOf } from "../../../lib/days.ts"
import { Fault, type FaultCode } from "../../../lib/faults.ts"
import { Term, wholeNumber } from "../../../lib/fields.ts"
import { keysOf } from "../../../lib/objects.ts"
import { coded, described } from "../../../lib/schema.ts"
import { Store, Storefront } from "../../../tracking/shapes.ts"
import { AppStoreAlone, MarketCountry } from "../inputs.ts"
import {
  DifficultyStanding,
  difficultyOf,
  FRESH_DAYS,
  figure,
  PopularityStanding,
  popularityOf,
} from "../metric-shapes.ts"
import { type KeywordReading, METRICS, type Metric, type ReadProblem, readKeyword } from "./reading.ts"

const LONGEST_WAIT_S = 20
/** About as long as a person waits for a tool. */
const TOOL_WAIT_S = 15
/** Price of a call that starts a reading. A call is free if it uses a stored reading or joins a running one. */
const PRICE = 50

const ENDS = ["stored", "measured", "absent", "pending", "failed", "incomplete"] as const
const end = (metric: Metric) =>
  described(
    v.nullable(v.picklist(ENDS)),
    `End of the measurement of ${metric}. stored: a fresh result was stored; measured, absent: read now; pending: ` +
      "running; failed: a required reading failed; incomplete: the data read is insufficient. Null if not requested.",
  )

export const hiveMeasureKeyword = operation({
  id: "hive_measure_keyword",
  method: "POST",
  path: "/hive/keywords/:term/metrics/measure",
  group: "Hive",
  toolset: "hive",
  summary: "Measures any keyword's popularity and difficulty now.",
  description:
    `Results are cached for ${FRESH_DAYS} days. New work takes one unit of the daily measurements; joining ` +
    "running work takes none. On a 202, hive_get_keyword_metrics has the result later.",
  effect: "measures",
  scope: "hive:measure",
  hive: "explorer",
  price: PRICE,
  faults: [
    "hive_write_failed",
    "hive_measurement_unavailable",
    "hive_measurement_queue_failed",
    "hive_measurement_failed",
    "hive_measurement_incomplete",
    "hive_measurement_deferred",
    "hive_measurement_not_started",
  ],
  // the sample of a test key contains only one keyword
  missing: "hive_measurement_unavailable",
  pending: true,
  toolDefaults: { wait: TOOL_WAIT_S },
  deadlineMs: deadlineOf(LONGEST_WAIT_S * 1_000),
  input: v.strictObject({
    term: Term,
    country: MarketCountry,
    platform: AppStoreAlone,
    metrics: v.optional(
      coded(
        v.pipe(
          v.array(v.picklist(METRICS)),
          v.minLength(1),
          v.maxLength(METRICS.length),
          v.check((metrics) => new Set(metrics).size === metrics.length),
          v.metadata({ uniqueItems: true }),
          v.description("Metrics to measure. Each ends separately."),
        ),
        "bad_metrics",
      ),
      [...METRICS],
    ),
    wait: v.optional(wholeNumber(0, LONGEST_WAIT_S, "Maximum seconds to wait for the end.", "bad_wait"), 0),
  }),
  output: v.strictObject({
    term: described(v.string(), "The normalised keyword."),
    country: Storefront,
    platform: described(Store, "Always ios."),
    started: described(v.boolean(), "True if this call started new work, which took one of the daily measurements."),
    popularityEnd: end("popularity"),
    difficultyEnd: end("difficulty"),
    popularity: figure(
      1,
      "1 to 100, from Apple's monthly report. Null if absent, unmeasured or a band (see popularityStanding).",
    ),
    difficulty: figure(
      0,
      "How hard it is to enter the first ten. Null if absent or unmeasured (see difficultyStanding).",
    ),
    popularityStanding: PopularityStanding,
    difficultyStanding: DifficultyStanding,
  }),
}).run(async ({ term, country: storefront, platform, metrics, wait }, ctx) => {
  const list = { platform, storefront, term }
  const before = await readStandings(ctx, list)
  const wanted = metrics.filter((metric) => !isFresh(before[metric]))
  const reading =
    wanted.length === 0 ? NO_WORK : await readKeyword(ctx, list, { metrics: wanted, waitMs: wait * 1_000 })
  const standings = wanted.length === 0 ? before : await readStandings(ctx, list)
  const endOf = (metric: Metric): End | null => {
    if (!metrics.includes(metric)) return null
    return wanted.includes(metric) ? endFor(standings[metric], reading.ends[metric]) : "stored"
  }
  const { popularity, difficulty } = standings
  const answer = {
    term,
    country: storefront,
    platform,
    started: reading.started,
    popularityEnd: endOf("popularity"),
    difficultyEnd: endOf("difficulty"),
    popularity: popularity.score,
    difficulty: difficulty.score,
    popularityStanding: popularity.standing,
    difficultyStanding: difficulty.standing,
  }
  const ends = [answer.popularityEnd, answer.difficultyEnd]
  const unread = wanted.filter((metric) => !isFresh(standings[metric]))
  const code = codeOf(reading, unread, ends)
  if (code) throw new Fault(code, { metrics: answer }, { retryAfter: RETRY_S })
  return ends.includes("pending") ? pending({}, answer) : answer
})

type End = (typeof ENDS)[number]
type Standings = Awaited<ReturnType<typeof readStandings>>

const NO_WORK: KeywordReading = { started: false, ends: {} }
const RETRY_S = 60

async function readStandings({ sql, now }: Context, list: { platform: "ios"; storefront: string; term: string }) {
  const at = now()
  const facts = { figures: await readFigures(sql, list, dayOf(at)), attempts: await readAttempts(sql, list), now: at }
  return { popularity: popularityOf(facts), difficulty: difficultyOf(facts) }
}

function isFresh({ standing: { state, stale } }: Standings[Metric]): boolean {
  return state !== "unmeasured" && stale === false
}

function endFor(one: Standings[Metric], problem: KeywordReading["ends"][Metric]): End {
  if (problem === "pending") return "pending"
  if (isFresh(one)) return one.standing.state === "absent" ? "absent" : "measured"
  return problem ? "failed" : "incomplete"
}

/** Returns the error code if all work has ended and a metric has no figure. Null otherwise. */
function codeOf({ ends }: KeywordReading, unread: readonly Metric[], shown: readonly (End | null)[]): FaultCode | null {
  const problems = unread.map((metric) => ends[metric])
  if (problems.includes("not_started")) return CODES.not_started
  if (shown.includes("pending")) return null
  const worst = keysOf(CODES).find((item) => problems.includes(item))
  if (worst) return CODES[worst]
  return unread.length > 0 ? "hive_measurement_incomplete" : null
}

/** Ordered by precedence: the answer reports the first of these problems that any metric has. */
const CODES: Record<ReadProblem, FaultCode> = {
  not_started: "hive_measurement_not_started",
  unstored: "hive_write_failed",
  failed: "hive_measurement_failed",
  deferred: "hive_measurement_deferred",
  off: "hive_measurement_unavailable",
}
