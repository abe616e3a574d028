import { expect } from "bun:test"
import { listed, PAGE } from "../measuring/record/listed.ts"
import { reading } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import type { Service } from "../service.ts"
import { newStoreId, trackOwn } from "../world/app.ts"
import { dayAgo } from "../world/clock.ts"
import { someWriter, type Writer } from "../writes/writer.ts"

export interface Sharing {
  writer: Writer
  app: string
  iosId: string
  /** Confirms a link and returns the result. */
  share(args?: object): Promise<{ url: string; path: string; expiresAt: string; token: string; result: Shared }>
  /** Records a day's results of a keyword. Rank 0 means the app is absent; null records nothing. */
  measure(term: string, daysAgo: number, rank: number | null, rest?: object): Promise<void>
  /** Records many days at once. */
  measureAll(days: readonly (readonly [term: string, daysAgo: number, rank: number])[]): Promise<void>
}

export interface Shared {
  appId: string
  country: string
  days: number
  hasPassword: boolean
  url: string
  expiresAt: string
}

/** Creates a workspace that tracks an app with this name in the US, with unmeasured keywords. */
export async function sharing(
  service: Service,
  { name = "Tea Timer", keywords = ["tea"], androidPkg = "" } = {},
): Promise<Sharing> {
  const { sql } = service
  const writer = await someWriter(service)
  const iosId = newStoreId()
  const tracked = { workspaceId: writer.workspace, iosId, name, countries: ["us"], keywords, origin: "own" }
  const app = await trackOwn(sql, { ...tracked, ...(androidPkg && { androidPkg }) })
  const read = (term: string, daysAgo: number, rank: number, rest: object = {}) => {
    const ids = Array.from({ length: 200 }, (_, i) => (i + 1 === rank ? iosId : 300_000_000 + i))
    return reading(term, `${dayAgo(daysAgo)}T00:00:01Z`, ids, rest)
  }
  return {
    writer,
    app,
    iosId,
    async share(args = {}) {
      const token = await writer.token("create_share_link", { appId: app, country: "us", ...args })
      const { status, body } = await writer.confirm(token)
      expect([status, body.error]).toEqual([200, undefined])
      const path = new URL(body.result.url).pathname
      return { ...body.result, path, token: path.slice("/share/".length), result: body.result }
    },
    async measure(term, daysAgo, rank, rest = {}) {
      if (rank !== null) await record(sql, [read(term, daysAgo, rank, rest)], () => new Date())
    },
    async measureAll(days) {
      const readings = days.map(([term, daysAgo, rank]) => read(term, daysAgo, rank))
      await record(sql, readings, () => new Date())
    },
  }
}

/** Records the app's App Store page, read yesterday. */
export async function readPage(service: Service, iosId: string, listing: Partial<typeof PAGE> = {}): Promise<void> {
  const page = listed(`${dayAgo(1)}T03:25:01Z`, { ...PAGE, ...listing }, { id: iosId })
  await record(service.sql, [page], () => new Date())
}

export const form = (password: string) => ({
  method: "POST",
  body: `password=${encodeURIComponent(password)}`,
  headers: { "content-type": "application/x-www-form-urlencoded" },
})
