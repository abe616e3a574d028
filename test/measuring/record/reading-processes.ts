import type { Sql } from "../../../src/database/types.ts"
import { kindsOf, type SourceChoice } from "../../../src/due-kinds.ts"
import { createSignOfLife, type SignOfLife } from "../../../src/measuring/sign-of-life.ts"

export const AWAY = "another address"

/** Writes the heartbeat of a process with these settings, which never reads anything. */
export async function signOfLife(sql: Sql, readable: Partial<SourceChoice> = {}): Promise<SignOfLife> {
  const ended = Promise.withResolvers<void>()
  const kinds = kindsOf({ egressCountry: "us", ...readable })
  const sign = createSignOfLife({ sql, kinds, egress: AWAY, ends: { worked: ended.resolve, failed: ended.reject } })
  sign.begin()
  await ended.promise
  return sign
}
