import { type AnyKind, kindNamed } from "../../core/kind.ts"
import { hold } from "../../core/observation/invariants.ts"
import { DEMO } from "../../core/observation/provenance.ts"
import type { Observation } from "../../kinds.ts"
import { isInventedId } from "../../lib/store-ids.ts"
import { isInventedTerm } from "../../lib/term.ts"

/** Throws ObservationProblem. */
export function checkObservation(observation: Observation, now: Date, kinds: readonly AnyKind[]): void {
  const kind = kindNamed(observation.kind, kinds)
  hold(kind !== undefined, "bad_kind", "the kind is not a kind of observation")
  kind.check(observation, now)
  if (observation.origin !== DEMO) return
  hold(kind.demo === true || (kind.demo === "invented" && isInvented(observation)), "bad_provenance", NO_DEMO)
}

function isInvented(observation: Observation): boolean {
  if ("id" in observation) return isInventedId(observation.id)
  return "term" in observation && isInventedTerm(observation.term)
}

const NO_DEMO =
  "only searches, charts, reviews, reports of the demo's own accounts and readings of its invented app can have " +
  "the origin demo: name another origin, or leave it out"
