import { describe, expect, test } from "bun:test"
import { STOREFRONTS } from "../../src/lib/storefronts.ts"
import { slow } from "../long.ts"
import { rename } from "../measuring/record/measured.ts"
import { prepareScene } from "./scene.ts"
import { termsOf } from "./writer.ts"

const scene = prepareScene()

describe("add_app", () => {
  test("add_app tracks an app without asking a store, and shows its name after the first measurement", async () => {
    const { body } = await scene.preview("add_app", {
      iosId: "389801252",
      countries: ["US", "gb"],
      keywords: ["photo"],
    })
    expect(body.preview).toMatchObject({
      summary: 'Track "389801252" in the US, the UK with 1 keyword.',
      target: { kind: "store_app", id: "ios:389801252" },
      before: { app: null },
      after: { app: { iosId: "389801252", name: null, countries: ["us", "gb"], keywords: ["photo"] } },
      notes: [expect.stringContaining("first measurement")],
    })
    const { appId } = (await scene.confirm(body.confirmToken)).body.result
    const readApp = async () => (await scene.service.call(`/v1/apps/${appId}`, { key: scene.key })).body
    expect(await readApp()).toMatchObject({
      name: "389801252",
      icon: null,
      keywordsByCountry: { us: ["photo"], gb: ["photo"] },
    })
    await rename(scene.sql, "389801252", "Snaps")
    await scene.sql`update store_app_name set icon_url = 'https://example.com/i.png', icon_at = now(), icon_weight = 0`
    expect(await readApp()).toMatchObject({ name: "Snaps", icon: "https://example.com/i.png" })
  })

  test("add_app for an app that is already tracked has a note in the preview and changes nothing", async () => {
    const { body } = await scene.preview("add_app", { iosId: "1437843273", androidPkg: "com.example.kettle" })
    expect(body.preview.notes).toEqual([expect.stringContaining(`as ${scene.app}`)])
    expect([body.credits, (await scene.confirm(body.confirmToken)).body.status]).toEqual([0, "unchanged"])
    expect(await scene.sql`select id from tracked_app where workspace_id = ${scene.workspace}`).toHaveLength(1)
  })

  test("add_app previewed twice and confirmed twice tracks the app once", async () => {
    const args = { androidPkg: "com.example.kettle", name: "Kettle for tablets" }
    const tokens = [
      (await scene.preview("add_app", args)).body.confirmToken,
      (await scene.preview("add_app", args)).body.confirmToken,
    ]
    const answers = await Promise.all(tokens.map((token) => scene.confirm(token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(await scene.sql`select id from tracked_app where workspace_id = ${scene.workspace}`).toHaveLength(2)
  })
})

describe("a name", () => {
  slow("a name accepted by the preview is stored by the confirm", async () => {
    const names = ["👨‍👩‍👧 Family", "Kettle\u200e", "Tea\u00adTime", "😀".repeat(60), "  Zed  ", "عربي\u200f"]
    for (const [at, name] of names.entries()) {
      const { body } = await scene.preview("add_app", { iosId: String(389_801_000 + at), name })
      expect([name, body.preview?.after.app.name]).toEqual([name, name.trim()])
      const { appId } = (await scene.confirm(body.confirmToken)).body.result
      expect((await scene.service.call(`/v1/apps/${appId}`, { key: scene.key })).body.name).toBe(name.trim())
    }
    for (const name of ["a\u0001b", "\uf8ff Music", "a\u202eb", " ", "x".repeat(101)])
      expect((await scene.preview("add_app", { iosId: "389801252", name })).body.field).toBe("name")
  })
})

describe("the size of one write", () => {
  test("one write changes at most 9,000 keywords, counted per storefront", async () => {
    await scene.sql`update workspace set overrides = overrides || '{"trackedKeywords": 1000000}'`
    const countries = STOREFRONTS.slice(0, 150)
    const addition = (count: number) => ({
      iosId: "389801252",
      countries,
      keywords: Array.from({ length: count }, (_, i) => `k${i}`),
    })
    expect((await scene.preview("add_app", addition(60))).status).toBe(200)
    const refused = await scene.preview("add_app", addition(61))
    expect([refused.status, refused.body.error, refused.body.reason]).toEqual([
      403,
      "write_limit_reached",
      "One write may change at most 9000 keywords, each counted in each storefront; this one would change 9150.",
    ])
  })

  test("a write with the maximum of storefronts and keywords has a short preview and a short token", async () => {
    await scene.sql`update workspace set overrides = overrides || '{"trackedKeywords": 1000000}'`
    await scene.sql`update tracked_app set countries = ${STOREFRONTS as string[]}::text[] where id = ${scene.app}`
    const keywords = Array.from({ length: 50 }, (_, i) => `${i} ${"x".repeat(140)}`)
    const { status, text } = await scene.preview("add_keywords", { appId: scene.app, keywords })
    expect(status).toBe(200)
    expect(text.length).toBeLessThan(30_000)
    const [row] =
      await scene.sql`select length(seen) as length from confirm_token where workspace_id = ${scene.workspace}`
    expect(row?.length).toBeLessThan(100)
  })
})

describe("remove_keywords", () => {
  test("remove_keywords keeps the history, names untracked keywords, and counts as destructive", async () => {
    const { body } = await scene.preview("remove_keywords", { appId: scene.app, keywords: ["tea", "milk"] })
    expect([body.destructive, body.preview.notes]).toEqual([true, ['Not tracked, and ignored: "milk".']])
    expect((await scene.confirm(body.confirmToken)).body.result).toEqual({
      appId: scene.app,
      removed: ["tea"],
      notTracked: ["milk"],
    })
    expect(await termsOf(scene.sql, scene.app)).toEqual([])
    expect(await scene.sql`select id from list where term = 'tea'`).not.toHaveLength(0)
  })
})
