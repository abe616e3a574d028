import { type AnyKind, kindNamed } from "../../core/kind.ts"
import { hold } from "../../core/observation/invariants.ts"
import { DEMO } from "../../core/observation/provenance.ts"
import type { Observation } from "../../kinds.ts"
import { isInventedId } from "../../lib/store-ids.ts"
import { isInventedTerm } from "../../lib/term.ts"

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
