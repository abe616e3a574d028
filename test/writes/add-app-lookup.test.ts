import { describe, expect } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { noteCountry } from "../../src/measuring/countries.ts"
import { freshDatabase } from "../database.ts"
import { beforeSlow, long, slow } from "../long.ts"
import { answersLookUps, type Live, live } from "../world/stores.ts"

let sql: Sql

beforeSlow(async () => {
  sql = await freshDatabase()
})

const preview = ({ service, key }: Live, args: object) =>
  service.call("/v1/actions", { key, method: "POST", body: { action: "add_app", args } })
const requestsTo = ({ stores }: Live, path: string) => stores.requests.filter(({ url }) => url.pathname === path).length

describe("the preview of add_app", () => {
  slow("add_app shows the app's name after one request to the store, and its confirm sends no request", async () => {
    await using scene = await live(sql, [])
    answersLookUps(scene.stores, { "20001": { trackName: "Tide Times" } })
    const previewed = await preview(scene, { iosId: "20001" })
    expect(previewed.body.preview).toMatchObject({ summary: 'Track "Tide Times" in the US.', notes: [] })
    expect(requestsTo(scene, "/lookup")).toBe(1)
    const { service, key } = scene
    const body = { confirmToken: previewed.body.confirmToken }
    const confirmed = await service.call("/v1/actions/confirm", { key, method: "POST", body })
    expect(confirmed.status).toBe(200)
    expect((await service.call("/v1/apps", { key })).body.apps.map(({ name }: { name: string }) => name)).toContain(
      "Tide Times",
    )
  })

  slow("add_app refuses an id that the store does not list, names the argument and stores nothing", async () => {
    await using scene = await live(sql, [])
    answersLookUps(scene.stores, {})
    // Google Play's "not found" has no country, so it counts only if the latest page was for the requested country
    await noteCountry(sql, { upstream: "play.google.com", egress: "live" }, { asked: "us", answered: "us" }, new Date())
    scene.stores.on("play.google.com", "/store/apps/details", () => new Response("", { status: 404 }))
    for (const [args, field] of [
      [{ iosId: "20002" }, "iosId"],
      [{ androidPkg: "com.example.nothing" }, "androidPkg"],
      [{ iosId: "20003", countries: ["us", "de"] }, "iosId"],
    ] as const) {
      const { status, body } = await preview(scene, args)
      expect([status, body.error, body.field]).toEqual([400, "invalid_arguments", field])
      expect(body.detail).toMatch(/^(The App Store|Google Play) does not list app [\w.]+ in the US(, Germany)? \(/)
      expect(body.detail).toMatch(/\(checked \d{4}-\d\d-\d\dT[\d:.]+Z\)\.$/)
      expect(body.confirmToken).toBeUndefined()
    }
    expect([...(await sql`select 1 from tracked_app where id <> ${scene.appId}`)]).toEqual([])
    // the result is used for a day, so no store is asked again
    const before = scene.stores.requests.length
    expect((await preview(scene, { iosId: "20002" })).status).toBe(400)
    expect(scene.stores.requests.length).toBe(before)
  })

  slow("add_app accepts an app that only one of the requested storefronts has", async () => {
    await using scene = await live(sql, [])
    scene.stores.on("itunes.apple.com", "/lookup", ({ url }) => {
      const results =
        url.searchParams.get("country") === "de"
          ? [{ wrapperType: "software", kind: "software", trackId: 20004, trackName: "Gezeiten" }]
          : []
      return Response.json({ resultCount: results.length, results })
    })
    const { status, body } = await preview(scene, { iosId: "20004", countries: ["us", "de"] })
    expect([status, body.preview?.summary]).toEqual([200, 'Track "Gezeiten" in the US, Germany.'])
  })

  long(
    "add_app continues with a note if the store refuses, responds slowly or cannot be read for the country",
    async () => {
      await using scene = await live(sql, [])
      scene.stores.on("itunes.apple.com", "/lookup", () => new Response("", { status: 403 }))
      const note = expect.stringContaining("the id is not checked")
      expect((await preview(scene, { iosId: "20005" })).body.preview).toMatchObject({ notes: [note] })
      // Google Play is read only for the country of this instance's address
      expect(
        (await preview(scene, { androidPkg: "com.example.elsewhere", countries: ["de"] })).body.preview,
      ).toMatchObject({ notes: [note] })
      // a custom name or a name from the other store does not count as a check of an id
      expect((await preview(scene, { iosId: "20005", name: "Tides" })).body.preview).toMatchObject({ notes: [note] })
      await sql`update pace set next_at = now(), refusals = 0, gap_ms = base_gap_ms`
      answersLookUps(scene.stores, { "20007": { trackName: "Tide Times" } })
      const half = { iosId: "20007", androidPkg: "com.example.elsewhere", countries: ["de"] }
      expect((await preview(scene, half)).body.preview).toMatchObject({
        notes: [expect.stringContaining("No store has shown android:com.example.elsewhere here yet")],
      })
      answersLookUps(scene.stores, { "20006": {} }, 4_000)
      const began = performance.now()
      const slow = await preview(scene, { iosId: "20006" })
      expect(slow.body.preview).toMatchObject({ notes: [note] })
      expect(performance.now() - began).toBeLessThan(4_000)
    },
  )
})
