import { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import { PutAside } from "../../measuring/parsing/put-aside.ts"
import { type RawBody, rawBody } from "../../measuring/source.ts"
import type { AccountTurn } from "../account-kind.ts"
import { type AdsQuery, changePath } from "../sources/ads/requests.ts"
import type { Ads } from "./client.ts"
import { type Pages, queryAll, simplerQueries } from "./pages.ts"
import { AdsProblem } from "./problem.ts"

/** Sends the requests of one task and collects their responses. */
export class AdsReach {
  left: number | null = null
  resetMs: number | null = null
  readonly bytes: Uint8Array[] = []
  readonly aside = new PutAside()
  readonly ads: Ads
  readonly signal: AbortSignal
  readonly pause: () => Promise<unknown>

  constructor(ads: Ads, signal: AbortSignal, pause: () => Promise<unknown>) {
    this.ads = ads
    this.signal = signal
    this.pause = pause
  }

  /** Returns all pages of a query. Throws AdsProblem when every form of the query is refused. */
  async all(query: AdsQuery): Promise<Pages> {
    let refused: unknown
    for (const form of [query, ...simplerQueries(query)]) {
      if (refused !== undefined) await this.pause()
      try {
        return await this.#ask(form, form.pageSize !== query.pageSize)
      } catch (error) {
        if (!isRefusal(error)) throw error
        refused ??= error
      }
    }
    throw refused
  }

  /**
   * Returns null if the platform refuses the query. The task then continues with its other queries, and `what` names
   * the gap for the owner.
   */
  async unlessRefused(query: AdsQuery, what: string | null): Promise<Pages | null> {
    try {
      return await this.all(query)
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (what !== null) this.aside.note(`${what}: ${error.message}`)
      this.bytes.push(Buffer.from(JSON.stringify({ refused: true })))
      return null
    }
  }

  /** Returns the details of a change. Null if the platform refuses the request for them. */
  async detail(change: string): Promise<unknown> {
    try {
      const { result, left, resetMs } = await this.ads.get(changePath(change), this.signal)
      this.left = left
      this.resetMs = resetMs
      return result
    } catch (error) {
      if (!isRefusal(error)) throw error
      this.aside.add(`change ${change}`, error.message)
      return null
    }
  }

  async #ask(query: AdsQuery, isSmaller: boolean): Promise<Pages> {
    if (this.bytes.length > 0) await this.pause()
    const pages = await queryAll(this.ads, query, { signal: this.signal, pause: async () => void (await this.pause()) })
    if (isSmaller) this.bytes.push(Buffer.from(JSON.stringify({ pageSize: query.pageSize })))
    this.bytes.push(...pages.bytes)
    this.left = pages.left
    this.resetMs = pages.resetMs
    return pages
  }

  /** Joins all response bodies, in their order, into one JSON list. */
  body(seenAt: Date): RawBody {
    const bytes = Buffer.from(`[${this.bytes.map((body) => Buffer.from(body).toString("utf8")).join(",")}]`)
    return rawBody({ bytes, sha256: hash("sha256", bytes, "buffer"), url: "", seenAt })
  }
}

function isRefusal(error: unknown): error is AdsProblem {
  return error instanceof AdsProblem && error.trouble === "refused"
}

export interface AdsTaskParts extends AccountTurn {
  reach: AdsReach
  zone: string
}
