import type { Db } from "../../database/types.ts"
import { ORDER_STEPS } from "../formulas/popularity.ts"

/**
 * Returns SQL for the popularity that orders and weighs keywords of a store (popularityOrder): the published figure, or
 * the middle of an estimate's band. `published`, `estimate` and `platform` are expressions.
 */
export function popularityOrderOf(
  sql: Db,
  { published, estimate, platform }: Record<"published" | "estimate" | "platform", ReturnType<Db>>,
) {
  return sql`coalesce(
    ${published},
    case ${platform}
      when 'ios' then (${ORDER_STEPS.orders}::int[])[width_bucket(${estimate}::int, ${ORDER_STEPS.from}::int[])]
      else ${estimate}
    end
  )`
}
