import {
  checkHash,
  checkIds,
  checkPlace,
  checkRankPlace,
  checkTerm,
  checkTime,
  hold,
  isDeveloperId,
  isGenre,
  isStorable,
} from "./invariants.ts"
import {
  APPS_SOURCES,
  type Attempt,
  CHART_SOURCES,
  CHARTS,
  DEVICES,
  HINTS_SOURCES,
  OUTCOMES,
  REVIEWS_SOURCES,
  type SourceName,
} from "./types.ts"

/** Throws ObservationProblem unless the attempt can be logged. */
export function checkAttempt(attempt: Attempt, now: Date): void {
  checkAsked(attempt)
  checkTime(attempt.at, now)
  hold(OUTCOMES.includes(attempt.outcome), "bad_provenance", "the outcome is unknown")
  const detail = attempt.detail ?? ""
  hold(isStorable(detail) && detail.length <= 500, "bad_provenance", "the detail must have at most 500 characters")
  if (attempt.sha256) checkHash(attempt.sha256)
}

function checkAsked({ kind, subject, ...place }: Attempt): void {
  hold(
    Object.hasOwn(SOURCES, kind),
    "bad_kind",
    `the kind of an attempt must be one of ${Object.keys(SOURCES).join(", ")}`,
  )
  const sources = SOURCES[kind]
  if (sources === null) checkRankPlace(place)
  else checkPlace(place, sources)
  checkSubject({ kind, subject, platform: place.platform })
}

/** What is asked of each kind; null = of what ranks. */
const SOURCES: Record<Attempt["kind"], readonly SourceName[] | null> = {
  search: null,
  apps: APPS_SOURCES,
  hints: HINTS_SOURCES,
  reviews: REVIEWS_SOURCES,
  listing: ["apple-app-page"],
  chart: CHART_SOURCES,
  genres: ["apple-genres"],
  developer: ["itunes-developer"],
  app_ads: ["app-ads-txt"],
}

function checkSubject({ kind, subject, platform }: Pick<Attempt, "kind" | "subject" | "platform">): void {
  if (kind === "search") checkTerm(subject)
  else if (kind === "hints") checkTerm(subject, "beginning")
  else if (kind === "chart") hold(isChart(subject), "bad_text", "a chart is named by its device, chart and genre")
  else if (kind === "genres") hold(isGenre(subject), "bad_text", "a genre must be a number of the store")
  else if (kind === "developer") hold(isDeveloperId(subject), "bad_text", "the developer must be a number of the store")
  else checkIds(platform, kind === "apps" ? subject.split(",") : [subject], "apps that were asked for")
}

function isChart(subject: string): boolean {
  const [device, chart, genre = "", ...more] = subject.split(" ")
  const isNamed = (DEVICES as readonly unknown[]).includes(device) && (CHARTS as readonly unknown[]).includes(chart)
  return isNamed && isGenre(genre) && more.length === 0
}
