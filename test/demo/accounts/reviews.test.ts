import { beforeEach, expect, setDefaultTimeout } from "bun:test"
import { loadDemoOwner } from "../../../src/demo/accounts/owner.ts"
import { removeAllOfDemo } from "../../../src/demo/load-at-start.ts"
import { recording } from "../../../src/recording.ts"
import { rebuildReviews } from "../../../src/reviews/store/rebuild-reviews.ts"
import { type AccountScene, accountScene, TEA } from "../../consoles/scene.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { reviewed } from "../../measuring/record/reviewed.ts"
import { ownerOf } from "../../pages/app-scene.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"

setDefaultTimeout(60_000)

const NOW = new Date("2026-03-11T18:00:00Z")

/** A complete reading of the store's feed. */
const OWN_REVIEW = reviewed("2026-03-11T10:00:00Z", [{ id: "1" }], {
  storeId: TEA.id,
  end: { pages: 1, complete: true, empty: false },
})

let scene: AccountScene
let key: string
const apps = () => [{ id: scene.appId, iosId: TEA.id, name: TEA.name, keywords: ["tea"] }]
const load = (now = NOW) =>
  loadDemoOwner(recording, scene.sql, { workspaceId: scene.workspaceId, apps: apps(), now: () => now, days: 1 })
const ask = async (path: string, by = key, app = scene.appId) =>
  (await scene.service.call(`/v1/apps/${app}/reviews${path}`, { key: by })).body

beforeEach(async () => {
  scene = await accountScene(await freshDatabase(), NOW)
  key = await scene.service.key(scene.workspaceId)
  await load()
})

slow("the demo's reviews are marked as invented and can be counted, searched and summarised", async () => {
  const stats = await ask("/stats")
  expect(stats).toMatchObject({ feed: { feed: "demo-us", state: "read" }, count: 28 })
  for (const count of Object.values(stats.distribution)) expect(count).toBeGreaterThan(0)
  expect(stats.byVersion.length).toBeGreaterThan(1)
  const { reviews, feed } = await ask("/search?limit=50")
  expect([reviews.length, feed.feed]).toEqual([28, "demo-us"])
  for (const { id, title } of reviews)
    expect([id, title]).toEqual([
      expect.stringMatching(/^invented-/),
      expect.stringMatching(/^(Invented|Inventada|Erfunden): /),
    ])
  const languages = new Set(reviews.map(({ title }: { title: string }) => title.split(":")[0]))
  expect(languages.size).toBe(3)
  expect((await ask("/search?q=crash&rating=2")).reviews).toMatchObject([{ title: "Invented: crashes" }])
  const summary = await ask("/summary")
  expect(summary).toMatchObject({ state: "ready", reviews: 28, feed: { feed: "demo-us" }, written: { by: "rules" } })
  expect(summary.themes.length).toBeGreaterThan(2)
})

slow("a workspace without the demo never gets the demo's reviews, even if it tracks the same app", async () => {
  const otherWorkspace = await scene.service.workspace({ explorer: true, plan: "pro" })
  const otherApp = await trackOwn(scene.sql, { workspaceId: otherWorkspace, iosId: TEA.id, keywords: ["tea"] })
  const their = await scene.service.key(otherWorkspace)
  expect(await ask("/stats", their, otherApp)).toMatchObject({ feed: { feed: "us", state: "never_read" }, count: null })
  expect(await ask("/search", their, otherApp)).toMatchObject({ total: null })
  const market = () => scene.service.call(`/v1/hive/reviews/${TEA.id}?country=us`, { key: their })
  expect((await market()).status).toBe(404)
  await record(scene.sql, [OWN_REVIEW], () => NOW)
  expect((await market()).body).toMatchObject({ feed: "us", held: 1, reviews: [{ id: "1" }] })
  const readings = async (workspace: number, app: string) =>
    (await (await ownerOf(scene.service, workspace)).open(`/app/apps/${app}/readings`)).text
  expect(await readings(otherWorkspace, otherApp)).not.toContain("demo-us")
  expect(await readings(scene.workspaceId, scene.appId)).toContain("demo-us")
})

slow("reviews read from the store replace the demo's reviews", async () => {
  await record(scene.sql, [OWN_REVIEW], () => NOW)
  const { reviews, feed } = await ask("/search?from=2025-10-01")
  expect([feed.feed, reviews.map(({ id }: { id: string }) => id)]).toEqual(["us", ["1"]])
})

slow("loading the demo's reviews again changes nothing; loading them four days later adds reviews", async () => {
  const before = await storedVersions()
  expect(before.versions.length).toBe(28)
  expect((await load()).recorded).toBe(0)
  await rebuildReviews(scene.sql, async () => {})
  expect(await storedVersions()).toEqual(before)
  await load(new Date(NOW.getTime() + 4 * 86_400_000))
  const after = (await storedVersions()).versions.map(({ id }) => id)
  expect([after.length, before.versions.every(({ id }) => after.includes(id))]).toEqual([30, true])
})

slow("the demo's reviews are removed by the first real account or with the demo", async () => {
  await scene.add()
  expect(await ask("/stats")).toMatchObject({ feed: { feed: "us", state: "never_read" }, count: null })
  expect(await storedVersions()).toEqual({ versions: [], days: [], reads: [], feeds: [] })
  expect(await load()).toEqual({ recorded: 0, alreadyStored: 0 })
  await scene.sql`delete from connected_account`
  await load()
  expect((await storedVersions()).versions).toHaveLength(28)
  await record(scene.sql, [OWN_REVIEW], () => NOW)
  await removeAllOfDemo(scene.sql)
  const { versions, feeds } = await storedVersions()
  expect([versions, feeds]).toMatchObject([[{ id: "1", feed: "us" }], [{ feed: "us" }]])
})

async function storedVersions() {
  const { sql } = scene
  const [versions, days, reads, feeds] = await Promise.all([
    sql<{ id: string; feed: string }[]>`select review_id as id, * from review_version order by review_id`,
    sql`select * from review_day order by feed, day`,
    sql`select * from review_read order by feed`,
    sql<{ feed: string }[]>`select * from review_feed order by feed`,
  ])
  return JSON.parse(JSON.stringify({ versions, days, reads, feeds })) as {
    versions: { id: string; feed: string }[]
    days: object[]
    reads: object[]
    feeds: { feed: string }[]
  }
}
