import type { AnyKind } from "../../core/kind.ts"
import { type Attempt, OUTCOMES } from "../../core/observation/attempt.ts"
import { checkHash, checkPlace, checkTime, hold } from "../../core/observation/invariants.ts"
import { KINDS } from "../../kinds.ts"
import { isStorable } from "../../lib/text.ts"

export function checkAttempt(attempt: Attempt, now: Date, kinds: readonly AnyKind[] = KINDS): void {
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
