import { isInventedId } from "../vocabulary/store-ids.ts"
import { isInventedTerm } from "../vocabulary/term.ts"
import { hold } from "./invariants.ts"
import type { AnyKind } from "./kind.ts"
import { KINDS, kindNamed } from "./kinds.ts"
import { DEMO } from "./provenance.ts"
import type { Observation } from "./types.ts"

export { checkAttempt } from "./check-attempt.ts"
export { ObservationProblem } from "./invariants.ts"

export function checkObservation(observation: Observation, now: Date, kinds: readonly AnyKind[] = KINDS): void {
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
  "only searches, charts, reviews, what the demo's own accounts say and what is of its invented app can be of the demo: name another origin, or leave it out"
