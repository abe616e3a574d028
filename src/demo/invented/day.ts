import { hash } from "node:crypto"
import { DEMO } from "../../core/observation/provenance.ts"
import { INVENTED_STOREFRONT, numberOf } from "./world.ts"

/**
 * Returns the provenance of invented readings. Depends on the arguments only, so that it is the same whenever it is
 * generated.
 */
export function inventedOn(day: string, what: string) {
  const seenAt = new Date(`${day}T05:10:00Z`)
  const sha256 = hash("sha256", `invented ${what} ${day}`, "buffer")
  return { platform: "ios" as const, storefront: INVENTED_STOREFRONT, origin: DEMO, parser: 1, seenAt, sha256 }
}

/** The app gains 9 ratings per day, and 5 on every fourth day. */
export function ratingsOn(day: string): { ratings: number; rating: number } {
  const number = numberOf(day)
  return { ratings: 8 * (number - 20_000) + (number % 4) - 2, rating: 4.6 }
}
