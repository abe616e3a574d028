import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { trackApp } from "../../../src/tracking/apps.ts"
import { type LiveStores, liveStores } from "../../core/live.ts"
import { freshDatabase } from "../../database.ts"
import { importLines } from "../../record.ts"

setDefaultTimeout(60_000)

let sql: Sql
let scene: LiveStores
let appId: string
let key: string

const AT = Date.now() - 5 * 86_400_000
const day = (offset: number) => new Date(AT + offset * 86_400_000).toISOString().slice(0, 10)

beforeEach(async () => {
  sql = await freshDatabase()
  scene = await liveStores(sql)
  const workspaceId = await scene.service.workspace({ explorer: true, plan: "pro" })
  key = await scene.service.key(workspaceId)
  appId = await sql.begin((tx) =>
    trackApp(tx, {
      workspaceId,
      androidPkg: "com.example.droid",
      countries: ["in", "us"],
      keywords: [],
      origin: "own",
    }),
  )
})

afterEach(() => scene[Symbol.asyncDispose]())

/** Returns the reported import line with its dates moved close to today. */
async function hindi() {
  const text = await Bun.file(new URL("../../cases/stores/play-language.jsonl", import.meta.url)).text()
  return text.trim().replaceAll(/2026-11-2[67]/g, (recorded) => day(recorded === "2026-11-27" ? 1 : 0))
}

const english = (hindiLine: string) =>
  JSON.stringify({
    ...JSON.parse(hindiLine),
    language: "en",
    reviews: [{ id: "gp:en", stars: 4, text: "Good", at: `${day(0)}T10:00:00Z` }],
  })

async function load(...lines: string[]) {
  const read = async function* () {
    yield* lines
  }
  const { bad } = await importLines(sql, read(), { now: () => new Date() })
  expect(bad).toEqual([])
}

async function ask(path: string) {
  const { status, body } = await scene.service.call(`/v1/apps/${appId}/${path}&platform=android`, { key })
  expect(status).toBe(200)
  return body
}

test("reviews imported in another language of the country are shown and counted only in that country", async () => {
  const line = await hindi()
  await load(line, english(line))
  const { count, average, feed } = await ask("reviews/stats?country=in")
  expect([count, average, feed.feed, feed.state]).toEqual([2, 3, "en,hi", "read"])
  const { reviews, total } = await ask("reviews/search?country=in")
  expect([total, reviews.map(({ id }: { id: string }) => id)]).toEqual([2, ["gp:AOqp3", "gp:en"]])
  expect((await ask("reviews/stats?country=us")).count).toBe(1)
})

test("exports, summaries and reply drafts include the imported languages of the country", async () => {
  const line = await hindi()
  await load(line, english(line))
  const args = { appId, dataset: "reviews", platform: "android", country: "in", from: day(-1), to: day(1) }
  const call = (path: string, body: object) => scene.service.call(path, { key, method: "POST", body })
  const previewed = await call("/v1/actions", { action: "export_data", args })
  expect(previewed.body.preview.after.export.rows).toBe(2)
  const { body } = await call("/v1/actions/confirm", { confirmToken: previewed.body.confirmToken })
  const file = await scene.service.app.fetch(new Request(body.result.url), "10.0.0.1")
  const [head = "", ...rows] = (await file.text()).trimEnd().split("\r\n")
  const feed = head.split(",").indexOf("feed")
  expect(rows.map((row) => [row.split(",")[0], row.split(",")[feed]])).toEqual([
    ["gp:en", "en"],
    ["gp:AOqp3", "hi"],
  ])
  const get = async (path: string) => (await scene.service.call(`/v1/apps/${appId}/reviews/${path}`, { key })).body
  const summary = await get("summary?country=in&lang=en&store=android")
  expect([summary.feed.feed, summary.state]).toEqual(["en,hi", "too_few"])
  // The review is found, so the draft fails only because no provider is configured.
  const reply = await get("reply-draft?country=in&store=android&reviewId=gp:AOqp3")
  expect(reply.error).toBe("ai_not_configured")
})

test("no day is covered if the feed in the storefront's own language was not read", async () => {
  await load(await hindi())
  const { count, average, coveredFrom, byDay, feed } = await ask("reviews/stats?country=in")
  expect([count, average, coveredFrom, feed.feed, feed.state, feed.complete]).toEqual([1, 2, null, "hi", "some", false])
  expect(byDay.some(({ covered }: { covered: boolean }) => covered)).toBe(false)
})
