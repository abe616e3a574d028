import { type AnyKind, kindNamed } from "../../core/kind.ts"
import { type Attempt, OUTCOMES } from "../../core/observation/attempt.ts"
import { checkHash, checkPlace, checkTime, hold } from "../../core/observation/invariants.ts"
import { DEMO } from "../../core/observation/provenance.ts"
import type { Observation } from "../../kinds.ts"
import { isInventedId } from "../../lib/store-ids.ts"
import { isInventedTerm } from "../../lib/term.ts"
import { isStorable } from "../../lib/text.ts"

/** Throws ObservationProblem. */
export function checkObservation(observation: Observation, now: Date, kinds: readonly AnyKind[]): void {
  const kind = kindNamed(observation.kind, kinds)
  hold(kind !== undefined, "bad_kind", "the kind is not one that is observed")
  kind.check(observation, now)
  if (observation.origin !== DEMO) return
  hold(kind.demo === true || (kind.demo === "invented" && isInvented(observation)), "bad_provenance", NO_DEMO)
}

function isInvented(observation: Observation): boolean {
  if ("id" in observation) return isInventedId(observation.id)
  return "term" in observation && isInventedTerm(observation.term)
}

const NO_DEMO =
  "only searches, charts, reviews, what the demo's own accounts say and what is of its invented app can be of the " +
  "demo: name another origin, or leave it out"

/** Throws ObservationProblem. */
export function checkAttempt(attempt: Attempt, now: Date, kinds: readonly AnyKind[]): void {
  checkQuestion(attempt, kinds)
  checkTime(attempt.at, now)
  hold(OUTCOMES.includes(attempt.outcome), "bad_provenance", "the outcome is unknown")
  const detail = attempt.detail ?? ""
  hold(isStorable(detail) && detail.length <= 500, "bad_provenance", "the detail must have at most 500 characters")
  if (attempt.sha256) checkHash(attempt.sha256)
}

function checkQuestion({ kind: name, subject, ...place }: Attempt, kinds: readonly AnyKind[]): void {
  const logged = kinds.filter(({ question }) => question)
  const kind = logged.find((one) => one.name === name)
  const names = logged.map((one) => one.name).join(", ")
  hold(kind?.question !== undefined, "bad_kind", `the kind of an attempt must be one of ${names}`)
  checkPlace(place, kind.question.sources ?? kind.sources)
  kind.question.checkSubject(subject, place.platform)
}
