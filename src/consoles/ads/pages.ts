import type { AdsQuery } from "../sources/ads/requests.ts"
import { type PlatformRow, rowsIn } from "../sources/ads/said.ts"
import type { Ads } from "./client.ts"
import { AdsProblem } from "./problem.ts"

interface PageOptions {
  signal?: AbortSignal
  /** Between two pages. */
  pause?: () => Promise<void>
}

export interface Pages {
  rows: PlatformRow[]
  /** What stands beside the rows of each page. */
  beside: PlatformRow[]
  bytes: Uint8Array[]
  /** Requests that are left, and for how long they must last; null = not said. */
  left: number | null
  resetMs: number | null
}

/** More rows than any account shows: a list that does not end is no list. */
const MOST_ROWS = 500_000

/** Everything that a query finds, page by page. Throws AdsProblem. */
export async function queryAll(
  ads: Ads,
  { path, body, pageSize }: AdsQuery,
  { signal, pause = async () => {} }: PageOptions = {},
): Promise<Pages> {
  const pages: Pages = { rows: [], beside: [], bytes: [], left: null, resetMs: null }
  for (;;) {
    const pagination = { offset: pages.rows.length, pageSize }
    const { result, bytes, left, resetMs } = await ads.query(path, { ...body, pagination }, signal)
    const page = rowsIn(result)
    if (!page) throw new AdsProblem("refused", "a list of Apple Ads cannot be read")
    pages.rows.push(...page)
    pages.beside.push(Array.isArray(result) ? {} : (result as PlatformRow))
    pages.bytes.push(bytes)
    Object.assign(pages, { left, resetMs })
    if (page.length < pageSize) return pages
    if (pages.rows.length > MOST_ROWS) throw new AdsProblem("refused", "a list of Apple Ads does not end")
    await pause()
  }
}

const SMALLER_PAGES = [5_000, 1_000]

/** Simpler forms of a query, for a platform that refuses its page size or the rows that it asks for besides. */
export function simplerQueries({ body, pageSize, ...query }: AdsQuery): AdsQuery[] {
  const { options, ...plain } = body
  const isReport = typeof options === "object" && options !== null && "includeRows" in options
  const sizes = SMALLER_PAGES.filter((size) => size < pageSize)
  return [
    ...(isReport ? [{ ...query, body: plain, pageSize }] : []),
    ...sizes.map((size) => ({ ...query, body, pageSize: size })),
    ...(isReport ? sizes.map((size) => ({ ...query, body: plain, pageSize: size })) : []),
  ]
}
