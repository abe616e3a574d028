import { parseAddressList } from "../../access/addresses.ts"
import { type SafeFetch, safeFetch } from "../../outbound/safe-fetch.ts"

/** Asks addresses that others named, on the public network and on those networks that the operator allows. */
export function guardedFetch(allowed: readonly string[]): SafeFetch {
  const allowPrivate = parseAddressList(allowed)
  return (url, options) => safeFetch(url, { ...options, allowPrivate })
}
