import { parseAddressList } from "../../access/addresses.ts"
import { type SafeFetch, safeFetch } from "../../outbound/safe-fetch.ts"

/** Fetches addresses that users entered, on the public network and on networks that the operator allows. */
export function guardedFetch(allowed: readonly string[]): SafeFetch {
  const allowPrivate = parseAddressList(allowed)
  return (url, options) => safeFetch(url, { ...options, allowPrivate })
}
