import { hold } from "./invariants.ts"
import type { AnyKind } from "./kind.ts"
import { KINDS, kindNamed } from "./kinds.ts"
import { DEMO } from "./provenance.ts"
import type { Observation } from "./types.ts"

export { checkAttempt } from "./check-attempt.ts"
export { ObservationProblem, type ProblemCode } from "./invariants.ts"

export function checkObservation(observation: Observation, now: Date, kinds: readonly AnyKind[] = KINDS): void {
  const kind = kindNamed(observation.kind, kinds)
  hold(kind !== undefined, "bad_kind", "the kind is not one that is observed")
  kind.check(observation, now)
  hold(kind.demo || observation.origin !== DEMO, "bad_provenance", NO_DEMO)
}

const NO_DEMO =
  "only searches, charts, reviews and what the demo's own accounts say can be of the demo: name another origin, or leave it out"
