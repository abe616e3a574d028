import type { AnyKind } from "../../core/kind.ts"
import type { Attempt } from "../../core/observation/attempt.ts"
import { hexOf } from "../../core/observation/precedence.ts"
import type { Db } from "../../database/types.ts"
import { checkAttempt } from "./check.ts"

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
