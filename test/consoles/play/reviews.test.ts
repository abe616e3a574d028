import { afterEach, beforeAll, beforeEach, expect, setDefaultTimeout } from "bun:test"
import { removeAccount } from "../../../src/consoles/register.ts"
import { createAccountReading } from "../../../src/consoles/worker.ts"
import type { Sql } from "../../../src/database/types.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { recording } from "../../../src/recording.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { freshDatabase } from "../../database.ts"
import { everyRow } from "../../every-row.ts"
import { slow } from "../../long.ts"
import { reviewedOnPlay } from "../../measuring/record/reviewed.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"
import { type ReviewShelf, reviewShelf, type ShelfReview } from "./review-shelf.ts"
import { type PlayScene, playScene, TEA_PACKAGE } from "./scene.ts"

setDefaultTimeout(60_000)

let sql: Sql
let scene: PlayScene
let shelf: ReviewShelf
let account: string
let key: string

beforeAll(async () => {
  sql = await freshDatabase()
})
beforeEach(async () => {
  await sql`truncate review_version, review_read, review_day, review_feed, connected_account cascade`
  scene = await playScene(sql)
  shelf = reviewShelf(scene.standIn, TEA_PACKAGE)
  account = (await scene.add()).id
  key = await scene.service.key(scene.workspaceId)
})
afterEach(() => scene.standIn.stop())

const HOUR_MS = 3_600_000
const AUTHOR = "Author Name-4712"
const id = (number: number) => `8a1c7f0e-0000-4a55-9d1c-${String(number).padStart(12, "0")}`

function shelfReview(number: number, rest: Partial<ShelfReview> = {}): ShelfReview {
  const text = `\tText ${number}`
  return { id: id(number), author: AUTHOR, stars: 2, text, atMs: Date.now() - number * HOUR_MS, ...rest }
}

/** Reads what is due, as if the last read were long ago. */
async function readAll(): Promise<void> {
  await sql`update account_task set next_at = now() where account_id = ${account}`
  await sql`update connected_account set next_at = case when id = ${account} then now() end`
  await createAccountReading({
    sql,
    sealer,
    recording,
    log: silentLog,
    reach: scene.register.reach,
    gapMs: 0,
  }).runOnce()
}

async function task() {
  const [row] = await sql<{ state: string; failure: string | null; aside: string | null; soon: boolean }[]>`
    select state, failure, put_aside as aside, next_at between now() and now() + interval '1 day' as soon
    from account_task
    where account_id = ${account} and task = 'reviews' and subject = ${TEA_PACKAGE}`
  return row
}

const list = async (query = "") => (await scene.service.call(`/v1/apps/${scene.appId}/reviews${query}`, { key })).body
const idsOf = (body: { android: { id: string }[] | null }) => body.android?.map((review) => review.id) ?? null

slow("all pages of the week's reviews are read and listed with their source, and no author is stored", async () => {
  shelf.pageSize = 2
  shelf.reviews = [1, 2, 3, 4, 5].map((number) => shelfReview(number))
  await readAll()
  expect(await task()).toMatchObject({ state: "read", failure: null, aside: null, soon: true })
  expect(scene.standIn.requests.filter((path) => path.includes("/reviews?maxResults=100"))).toHaveLength(3)
  const body = await list()
  expect(idsOf(body)).toEqual([1, 2, 3, 4, 5].map(id))
  expect(body.android[0]).toMatchObject({ rating: 2, title: null, text: "Text 1", version: "4.1" })
  expect(body.feeds.android).toMatchObject({ feed: "console-en", state: "some", readAt: null, total: 5 })
  expect((await everyRow(sql)).filter((row) => row.includes(AUTHOR))).toEqual([])
})

slow("a review that the store's page also shows is listed once, with the console's details stored", async () => {
  const [first, second] = [shelfReview(1), shelfReview(2, { reply: { text: "Thanks!", atMs: Date.now() - HOUR_MS } })]
  shelf.reviews = [first, second]
  const onPage = { id: second.id, stars: 2, text: "Text 2", at: new Date(second.atMs) }
  const older = { id: "older", at: new Date(Date.now() - 20 * 24 * HOUR_MS) }
  await readAll()
  expect((await list()).feeds.android.feed).toBe("console-en")
  await record(sql, [
    reviewedOnPlay(new Date().toISOString(), [onPage, older], { end: { pages: 1, complete: true, empty: false } }),
  ])
  const body = await list()
  expect(idsOf(body)).toEqual([first.id, second.id, "older"])
  expect(body.feeds.android).toMatchObject({ feed: "en,console-en", state: "read", complete: true, total: 3 })
  // The page's review has no version, because the page shows none.
  expect(body.android[1].version).toBeNull()
  await readAll()
  expect(idsOf(await list())).toEqual([first.id, second.id, "older"])
  const details = await sql`
    select review_id as id, language, device, android_api as api, version, version_code::int as code, reply
    from console_review
    order by review_id`
  const same = { language: "en", device: "panther", api: 34, version: "4.1", code: 410 }
  expect([...details]).toEqual([
    { id: first.id, ...same, reply: null },
    { id: second.id, ...same, reply: "Thanks!" },
  ])
  const stats = await scene.service.call(`/v1/apps/${scene.appId}/reviews/stats?platform=android&days=30`, { key })
  expect(stats.body).toMatchObject({ count: 3, coveredTo: expect.any(String) })
})

slow("the earlier text of an edited review is kept, even if the device's language changed", async () => {
  shelf.reviews = [shelfReview(5)]
  await readAll()
  const edited = {
    stars: 4,
    text: "Better\tIt works now",
    atMs: Date.now() - HOUR_MS,
    fields: { reviewerLanguage: "de" },
  }
  shelf.reviews = [shelfReview(5, edited)]
  await readAll()
  const { android } = await list()
  expect(android).toMatchObject([{ id: id(5), rating: 4, title: "Better", text: "It works now" }])
  const forms = await sql`select feed, current, text from review_version order by at`
  const feed = `console-${account}-en`
  expect([...forms]).toEqual([
    { feed, current: false, text: "Text 5" },
    { feed, current: true, text: "It works now" },
  ])
})

slow(
  "a review belongs to the storefronts of its language, and a review without a language to every storefront",
  async () => {
    const languages = ["en", "de_DE", "pt", "zh-TW", "xx-1", undefined]
    shelf.reviews = languages.map((reviewerLanguage, at) => shelfReview(at + 1, { fields: { reviewerLanguage } }))
    await sql`update tracked_app set countries = '{us,de,br}' where id = ${scene.appId}`
    await readAll()
    expect(idsOf(await list("?country=us"))).toEqual([id(1), id(5), id(6)])
    expect(idsOf(await list("?country=de"))).toEqual([id(2), id(5), id(6)])
    expect(idsOf(await list("?country=br"))).toEqual([id(3), id(5), id(6)])
    expect(idsOf(await list("?language=zh-TW"))).toEqual([id(4)])
  },
)

slow("another workspace with the app sees no console reviews, and forgetting the account deletes them", async () => {
  shelf.reviews = [shelfReview(1)]
  await readAll()
  const other = await scene.service.workspace()
  const tracked = { name: "Tea Timer", androidPkg: TEA_PACKAGE, countries: ["us"], origin: "own" as const }
  const app = await trackOwn(sql, { workspaceId: other, ...tracked, keywords: ["tea"] })
  const otherCaller = { key: await scene.service.key(other) }
  const response = await scene.service.call(`/v1/apps/${app}/reviews`, otherCaller)
  expect([response.status, response.body.android, response.text.includes("Text 1")]).toEqual([200, null, false])
  const found = await scene.service.call(`/v1/hive/reviews/${TEA_PACKAGE}?country=us`, otherCaller)
  expect(found.text).not.toContain("Text 1")
  await removeAccount(sql, scene.workspaceId, account, true)
  for (const table of ["console_review", "review_version", "review_day", "review_feed"])
    expect([table, (await sql`select from ${sql(table)}`).length]).toEqual([table, 0])
})

slow("an unreadable review is skipped, and hostile texts are stored unchanged", async () => {
  const hostile = `<script>alert(1)</script>\tIGNORE ALL RULES \u202e\u0000${"x".repeat(30_000)}`
  shelf.reviews = [shelfReview(1, { stars: 9 }), shelfReview(2, { text: hostile, fields: { device: "d".repeat(300) } })]
  await readAll()
  expect(await task()).toMatchObject({ state: "read", failure: null, aside: expect.stringContaining("review 1") })
  const { android } = await list()
  expect(android).toMatchObject([{ id: id(2), title: "<script>alert(1)</script>" }])
  expect(android[0].text).toStartWith("IGNORE ALL RULES")
  expect(android[0].text.length).toBeLessThanOrEqual(20_000)
})

slow("a response that is not a page of reviews fails its task, and the pages before it are stored", async () => {
  shelf.pageSize = 1
  shelf.reviews = [shelfReview(1), shelfReview(2)]
  scene.standIn.before = (path) => (path.includes("token=1") ? Response.json({ reviews: "many" }) : null)
  await readAll()
  expect(await task()).toMatchObject({ failure: expect.stringContaining("not a page of reviews") })
  expect(idsOf(await list())).toEqual([id(1)])
  scene.standIn.before = () => null
  await readAll()
  expect(await task()).toMatchObject({ state: "read", failure: null })
  expect(idsOf(await list())).toEqual([id(1), id(2)])
})

slow("a task is empty for a week without reviews, gone for an unknown app, denied without the right", async () => {
  await readAll()
  expect(await task()).toMatchObject({ state: "empty", failure: null })
  expect((await list()).android).toBeNull()
  scene.standIn.publisher = () => new Response("{}", { status: 404 })
  await readAll()
  expect(await task()).toMatchObject({ state: "gone" })
  scene.standIn.may.reviews = false
  await readAll()
  expect(await task()).toMatchObject({ state: "denied" })
})
