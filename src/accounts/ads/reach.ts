import { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import type { AdsQuery } from "../../sources/accounts/ads/requests.ts"
import { type RawBody, rawBody } from "../../sources/source.ts"
import type { AccountTurn } from "../kind.ts"
import type { Ads } from "./client.ts"
import { type Pages, queryAll } from "./pages.ts"

/** The questions of one turn, and what they came as. */
export class AdsReach {
  left: number | null = null
  resetMs: number | null = null
  readonly bytes: Uint8Array[] = []
  readonly ads: Ads
  readonly signal: AbortSignal
  readonly pause: () => Promise<unknown>

  constructor(ads: Ads, signal: AbortSignal, pause: () => Promise<unknown>) {
    this.ads = ads
    this.signal = signal
    this.pause = pause
  }

  async all(query: AdsQuery): Promise<Pages> {
    if (this.bytes.length > 0) await this.pause()
    const pages = await queryAll(this.ads, query, { signal: this.signal, pause: async () => void (await this.pause()) })
    this.bytes.push(...pages.bytes)
    Object.assign(this, { left: pages.left, resetMs: pages.resetMs })
    return pages
  }

  /** All bodies as one list, in their order. */
  body(seenAt: Date): RawBody {
    const bytes = Buffer.from(`[${this.bytes.map((body) => Buffer.from(body).toString("utf8")).join(",")}]`)
    return rawBody({ bytes, sha256: hash("sha256", bytes, "buffer"), url: "", seenAt })
  }
}

export interface AdsTurnParts extends AccountTurn {
  reach: AdsReach
  zone: string
}
