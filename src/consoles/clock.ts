import { TOKEN_AHEAD_MS, TOKEN_BACK_MS } from "./jwt.ts"

/** Requests take some seconds, and the header has no fractions of one. */
const TOLERANCE_MS = 5_000

/**
 * Explains a refused token by this machine's clock, compared with the Date header of the answer. Null if the clocks agree as
 * far as tokens need it, or if the answer has no date.
 */
export function clockProblem(headers: Headers, now: Date): string | null {
  const at = Date.parse(headers.get("date") ?? "")
  if (Number.isNaN(at)) return null
  const aheadMs = now.getTime() - at
  const isWrong = aheadMs > TOKEN_BACK_MS - TOLERANCE_MS || -aheadMs > TOKEN_AHEAD_MS - TOLERANCE_MS
  if (!isWrong) return null
  const apart = aheadMs > 0 ? `${spoken(aheadMs)} ahead of` : `${spoken(-aheadMs)} behind`
  return `this machine's clock is ${apart} the platform's, so that tokens made here are not valid there: set the clock (with NTP, for instance)`
}

function spoken(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 2) return `${Math.round(ms / 1_000)} seconds`
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`
}
