import type { AnyKind } from "../../core/kind.ts"
import { type Attempt, OUTCOMES } from "../../core/observation/attempt.ts"
import { checkHash, checkPlace, checkTime, hold } from "../../core/observation/invariants.ts"
import { hexOf } from "../../core/observation/precedence.ts"
import type { Db } from "../../database/types.ts"
import { isStorable } from "../../lib/text.ts"

export async function recordAttempt(
  sql: Db,
  attempt: Attempt,
  kinds: readonly AnyKind[],
  now: () => Date = () => new Date(),
): Promise<boolean> {
  checkAttempt(attempt, now(), kinds)
  const { kind, at, subject, storefront, platform, source, outcome, detail = null, sha256 } = attempt
  const logged = await sql`
    insert into attempt (kind, at, subject, storefront, platform, source, outcome, detail, sha256)
    select ${kind}, ${at}::timestamptz, ${subject}, ${storefront}, ${platform}, ${source}, ${outcome}, ${detail},
      decode(${sha256 ? hexOf(sha256) : null}::text, 'hex')
    where not exists (
      select from attempt
      where kind = ${kind} and subject = ${subject} and storefront = ${storefront} and platform = ${platform}
        and source = ${source} and at = ${at}
    )
    on conflict (kind, subject, storefront, platform, source, at) do nothing`
  return logged.count === 1
}

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
  const kind = logged.find((item) => item.name === name)
  const names = logged.map((item) => item.name).join(", ")
  hold(kind?.question !== undefined, "bad_kind", `the kind of an attempt must be one of ${names}`)
  checkPlace(place, kind.question.sources ?? kind.sources)
  kind.question.checkSubject(subject, place.platform)
}
