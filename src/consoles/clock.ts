import { TOKEN_AHEAD_MS, TOKEN_BACK_MS } from "./jwt.ts"

/** Allows for the duration of the request and for the Date header, which has whole seconds only. */
const TOLERANCE_MS = 5_000

/**
 * Explains a rejected token by the difference between this machine's clock and the Date header of the response. Null if
 * the clocks agree well enough for tokens, or if the response has no date.
 */
export function clockProblem(headers: Headers, now: Date): string | null {
  const at = Date.parse(headers.get("date") ?? "")
  if (Number.isNaN(at)) return null
  const aheadMs = now.getTime() - at
  const isWrong = aheadMs > TOKEN_BACK_MS - TOLERANCE_MS || -aheadMs > TOKEN_AHEAD_MS - TOLERANCE_MS
  if (!isWrong) return null
  const apart = aheadMs > 0 ? `${spoken(aheadMs)} ahead of` : `${spoken(-aheadMs)} behind`
  return (
    `this machine's clock is ${apart} the platform's, so the platform rejects tokens made here: set the clock ` +
    "(with NTP, for instance)"
  )
}

function spoken(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 2) return `${Math.round(ms / 1_000)} seconds`
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`
}
