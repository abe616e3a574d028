import { AccessProblem } from "../../access/problem.ts"

const LONGEST_ADDRESS = 2_000

/**
 * Parses an address that a person entered in the field `url`. Accepts http too, because a private network may offer
 * nothing else. Throws AccessProblem.
 */
export function addressOf(text = ""): URL {
  const url = text.length > LONGEST_ADDRESS ? null : URL.parse(text.trim())
  if (!url || !/^https?:$/.test(url.protocol))
    throw new AccessProblem("the address must begin with https:// or http://", "url")
  if (url.username || url.password) throw new AccessProblem("the address must contain no user name or password", "url")
  url.hash = ""
  return url
}

/**
 * Returns an address without its secret. Many services put one into the path, so only its last four characters are
 * shown, and only if it has at least 24.
 */
export function hintOf({ origin, pathname, search }: URL): string {
  const secret = pathname + search
  return `${origin}/…${secret.length >= HINTED_FROM ? secret.slice(-HINT) : ""}`
}

const HINTED_FROM = 24
const HINT = 4
