import { beforeAll, beforeEach, expect } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { addDays, dayOf } from "../../src/lib/days.ts"
import type { StoreReview } from "../../src/reviews/kinds/review-shape.ts"
import { deleteRows, freshDatabase } from "../database.ts"
import { reading } from "../measuring/record/measured.ts"
import { reviewed } from "../measuring/record/reviewed.ts"
import { record } from "../record.ts"
import { type Answer, openService, PUBLIC_URL, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"

/** One time for the whole file, so that no test runs across midnight. */
export const AT = new Date()

/** Returns the UTC day that many days ago. */
export const ago = (days: number) => addDays(dayOf(AT), -days)

export const OWN_APP = "1437843273"
export const OTHERS: readonly string[] = ["10007", "10008", "10009"]

/** "Kettle" in us and de, with two terms measured on three days, one unmeasured term, and three reviews. */
export interface ExportScene {
  sql: Sql
  service: Service
  workspace: number
  key: string
  app: string
  preview(args?: object, by?: string): Promise<Answer>
  confirm(confirmToken: string, by?: string): Promise<Answer>
  /** Previews and confirms an export. Returns the answer to the confirm. */
  exported(args?: object): Promise<Exported>
  /** Opens a link like a browser. Returns the text as sent, including the byte order mark. */
  open(url: string, init?: RequestInit): Promise<Opened>
  /** Records search results of a term, that many days ago. */
  measure(term: string, daysAgo: number, ids: readonly string[], rest?: object): Promise<void>
  review(reviews: (Partial<StoreReview> & { id: string })[], seenDaysAgo?: number): Promise<void>
  counts(): Promise<{ exports: number; parts: number }>
}

export interface Exported {
  url: string
  expiresAt: string
  rows: number
  columns: string[]
  from: string | null
  to: string | null
}

export interface Opened {
  status: number
  headers: Headers
  text: string
}

export function exportScene(settings: object = {}): ExportScene {
  const scene = {} as ExportScene
  let opened = 0
  Object.assign(scene, { preview, confirm, exported, open, measure, review, counts })

  beforeAll(async () => {
    scene.sql = await freshDatabase()
    scene.service = openService({ sql: scene.sql, now: () => AT, settings })
  })

  beforeEach(async () => {
    await deleteRows(scene.sql, "export_part", "export", "search_results", "list_now", "rank_month", "list_month")
    await deleteRows(scene.sql, "review_version", "review_read", "review_day", "review_feed")
    await scene.sql`delete from tracked_app`
    await scene.sql`update list set first_day = null, last_day = null`
    scene.workspace = await scene.service.workspace({ plan: "pro" })
    scene.key = await scene.service.key(scene.workspace)
    const app = { iosId: OWN_APP, name: "Kettle", countries: ["us", "de"], keywords: ["tea", "kettle", "never read"] }
    scene.app = await trackOwn(scene.sql, { workspaceId: scene.workspace, ...app, origin: "own" })
    await measure("tea", 3, ["10007", OWN_APP, "10008"])
    await measure("tea", 1, [...OTHERS.slice(0, 2), OWN_APP])
    await measure("kettle", 1, OTHERS)
    await review([
      { id: "11", stars: 5, title: "Good", text: "Boils water.", version: "1.0", at: new Date(`${ago(5)}T08:00:00Z`) },
      { id: "12", stars: 1, text: "Leaks", at: new Date(`${ago(2)}T08:00:00Z`) },
      { id: "13", stars: 3, text: "", at: new Date(`${ago(200)}T08:00:00Z`) },
    ])
  })

  function preview(args: object = {}, by = scene.key) {
    const body = { action: "export_data", args: { appId: scene.app, dataset: "history", ...args } }
    return scene.service.call("/v1/actions", { key: by, method: "POST", body })
  }

  function confirm(confirmToken: string, by = scene.key) {
    return scene.service.call("/v1/actions/confirm", { key: by, method: "POST", body: { confirmToken } })
  }

  async function exported(args: object = {}) {
    const previewed = await preview(args)
    expect([previewed.status, previewed.body.error]).toEqual([200, undefined])
    const { status, body } = await confirm(previewed.body.confirmToken)
    expect([status, body.error, body.status]).toEqual([200, undefined, "applied"])
    return body.result as Exported
  }

  async function open(url: string, init?: RequestInit) {
    expect(url.startsWith(`${PUBLIC_URL}/exports/`)).toBe(true)
    // uses another client address each time, because opens per second are limited and the clock does not advance here
    opened++
    const response = await scene.service.app.fetch(new Request(url, init), `10.0.${opened >> 8}.${opened & 255}`)
    const bytes = new Uint8Array(await response.arrayBuffer())
    const text = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true }).decode(bytes)
    return { status: response.status, headers: response.headers, text }
  }

  async function measure(term: string, daysAgo: number, ids: readonly string[], rest: object = {}) {
    const { recorded } = await record(scene.sql, [reading(term, `${ago(daysAgo)}T00:00:00Z`, ids, rest)])
    expect(recorded).toBe(1)
  }

  async function review(reviews: (Partial<StoreReview> & { id: string })[], seenDaysAgo = 1) {
    const page = reviewed(`${ago(seenDaysAgo)}T09:00:00Z`, reviews, {
      storeId: OWN_APP,
      end: { pages: 1, complete: true, empty: false },
    })
    await record(scene.sql, [page])
  }

  async function counts() {
    const [row] = await scene.sql<{ exports: number; parts: number }[]>`
      select (select count(*) from export) as exports, (select count(*) from export_part) as parts`
    return { ...row! }
  }

  return scene
}
