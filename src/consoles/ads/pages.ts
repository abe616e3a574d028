import type { AdsQuery } from "../sources/ads/requests.ts"
import { type PlatformRow, rowsIn } from "../sources/ads/response-fields.ts"
import type { Ads } from "./client.ts"
import { AdsProblem } from "./problem.ts"

interface PageOptions {
  signal?: AbortSignal
  /** Pause between two pages. */
  pause?: () => Promise<void>
}

export interface Pages {
  rows: PlatformRow[]
  /** The properties of each page other than its rows. */
  pageFields: PlatformRow[]
  bytes: Uint8Array[]
  /** Requests left, and the time until the limit resets. Null if the response does not include it. */
  left: number | null
  resetMs: number | null
}

/** Maximum number of rows. No account has more, so a longer list counts as endless. */
const MAX_ROWS = 500_000

/** Returns all rows of a query, page by page. Throws AdsProblem. */
export async function queryAll(
  ads: Ads,
  { path, body, pageSize }: AdsQuery,
  { signal, pause = async () => {} }: PageOptions = {},
): Promise<Pages> {
  const pages: Pages = { rows: [], pageFields: [], bytes: [], left: null, resetMs: null }
  for (;;) {
    const pagination = { offset: pages.rows.length, pageSize }
    const { result, bytes, left, resetMs } = await ads.query(path, { ...body, pagination }, signal)
    const page = rowsIn(result)
    if (!page) throw new AdsProblem("refused", "a list of Apple Ads cannot be read")
    pages.rows.push(...page)
    pages.pageFields.push(Array.isArray(result) ? {} : (result as PlatformRow))
    pages.bytes.push(bytes)
    Object.assign(pages, { left, resetMs })
    if (page.length < pageSize) return pages
    if (pages.rows.length > MAX_ROWS) throw new AdsProblem("refused", "a list of Apple Ads does not end")
    await pause()
  }
}

const SMALLER_PAGES = [5_000, 1_000]

/** Simpler forms of a query, tried when the platform refuses the page size or the extra rows of a report. */
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
