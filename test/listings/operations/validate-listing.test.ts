import { beforeAll, describe, expect, test } from "bun:test"
import type { Sql } from "../../../src/database/types.ts"
import { PLACES, readSurroundings } from "../../../src/listings/read/listing-surroundings.ts"
import { freshDatabase } from "../../database.ts"
import { appsReading, NOW, reading, stored } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import { points } from "../listing.ts"

let sql: Sql
let service: Service
let key: string
let workspaceId: number
let appId: string
const path = () => `/v1/apps/${appId}/validate-listing`
const validate = (body: object, options: object = {}) => service.call(path(), { method: "POST", key, body, ...options })

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, now: () => NOW })
  workspaceId = await service.workspace()
  key = await service.key(workspaceId, { scopes: ["apps:read"] })
  appId = await trackOwn(sql, {
    workspaceId,
    iosId: "60001",
    countries: ["us", "de", "tr"],
    keywords: ["mood diary", "daily journal"],
    manualRivals: ["ios:60050", "android:com.example.rival"],
  })
  await sql`delete from tracked_term where app_id = ${appId} and country = 'de'`
  await sql`insert into tracked_term (app_id, country, term, position) values (${appId}, 'de', 'tagebuch', 1)`
  const app = (id: string, name: string, developer: string) => ({ id, name, developer })
  await record(
    sql,
    [
      appsReading("2025-11-18T10:00:00Z", [
        app("60001", "Lumen Journal", "Lumen Labs, Inc."),
        app("60002", "Moodleaf: Mood Tracker", "Nordic Minds AB"),
        app("60003", "Lumen Sleep", "Lumen Labs, Inc."),
        app("60050", "Inkwell - Notes", "Ink AG"),
        app("60099", "Zephyrus Deep", "Deep GmbH"),
      ]),
      reading("mood diary", "2025-11-19T10:00:00Z", [
        "60002",
        "60001",
        "60003",
        ...Array.from({ length: PLACES - 3 }, (_, i) => 61_000 + i),
        "60099",
      ]),
    ],
    () => NOW,
  )
})

describe("result of validate_listing", () => {
  test("the answer for a whole listing has lengths, findings, keywords and coverage", async () => {
    const { status, body } = await validate({
      locale: "en_us",
      name: "Lumen Journal",
      subtitle: "Your daily mood",
      keywords: "moodleaf, free,inkwell,mood,zephyrus deep,lumen sleep",
      promotionalText: "",
      description: "For Android.",
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ country: "us", locale: "en-US", localeFrom: "input", findingsLeftOut: 0 })
    expect(body.fields).toEqual({
      name: { length: 13, limit: 30, over: 0, left: 17, bytes: 13 },
      subtitle: { length: 15, limit: 30, over: 0, left: 15, bytes: 15 },
      keywords: { length: 53, limit: 100, over: 0, left: 47, bytes: 53 },
      promotionalText: { length: 0, limit: 170, over: 0, left: 170, bytes: 0 },
      description: { length: 12, limit: 4000, over: 0, left: 3988, bytes: 12 },
    })
    expect(
      body.findings.map(({ message: _, severity: __, ...rest }: { message: string; severity: string }) => rest),
    ).toEqual([
      { code: "rival_name", field: "keywords", what: "moodleaf", offset: 0, characters: 9 },
      { code: "keyword_space", field: "keywords", what: " ", offset: 9, characters: 1 },
      { code: "price_word", field: "keywords", what: "free", offset: 10, characters: 6 },
      { code: "rival_name", field: "keywords", what: "inkwell", offset: 15, characters: 8 },
      { code: "repeated_in_subtitle", field: "keywords", what: "mood", offset: 23, characters: 5 },
      { code: "repeated_in_name", field: "keywords", what: "lumen", offset: 42, characters: 6 },
      { code: "tracked_keyword_left_out", field: "keywords", what: "mood diary", offset: null, characters: 0 },
      { code: "other_platform", field: "description", what: "Android", offset: 4, characters: 8 },
    ])
    expect(body.counts).toEqual({ error: 0, warning: 8, hint: 0 })
    // Removing "free" also removes the space before it. The space is counted once.
    expect(body.keywordRoomLost).toBe(9 + 6 + 8 + 5 + 6)
    expect(body.keywords[4]).toEqual({ keyword: "zephyrus deep", offset: 28, words: ["zephyrus", "deep"] })
    expect(body.coverage).toEqual({
      complete: true,
      tracked: 2,
      covered: 1,
      leftOut: 1,
      unknown: 0,
      keywords: [
        { term: "mood diary", covered: false, missing: ["diary"], variants: [] },
        { term: "daily journal", covered: true, missing: [], variants: [] },
      ],
    })
  })

  test("an empty call has no findings and unknown coverage", async () => {
    const { body } = await validate({})
    expect(body.fields).toEqual({
      name: null,
      subtitle: null,
      keywords: null,
      promotionalText: null,
      description: null,
    })
    expect(body).toMatchObject({ findings: [], keywords: null, keywordRoomLost: null, localeFrom: "storefront" })
    expect(body.coverage).toMatchObject({ complete: false, tracked: 2, covered: 0, leftOut: 0, unknown: 2 })
  })

  test("the tracked keywords are those of the given storefront, by default the app's first storefront", async () => {
    const texts = { name: "Lumen", subtitle: "", keywords: "tagebuch" }
    const german = (await validate({ ...texts, country: "DE" })).body
    expect([german.country, german.coverage.keywords]).toEqual([
      "de",
      [{ term: "tagebuch", covered: true, missing: [], variants: [] }],
    ])
    expect((await validate(texts)).body).toMatchObject({ country: "us", coverage: { leftOut: 2 } })
    const untracked = (await validate({ ...texts, country: "fr" })).body
    expect(untracked).toMatchObject({ country: "fr", locale: "fr-FR", coverage: { tracked: 0, complete: true } })
  })

  test("the locale is guessed among the storefront's locales, and localeFrom shows this", async () => {
    const guess = async (country: string, subtitle: string) => {
      const { body } = await validate({ country, subtitle })
      return [body.locale, body.localeFrom]
    }
    expect(await guess("tr", "Günlük ve ruh hâlin için")).toEqual(["tr", "texts"])
    expect(await guess("tr", "Your diary and your mood")).toEqual(["en-GB", "texts"])
    expect(await guess("jp", "気分日記")).toEqual(["ja", "texts"])
    expect(await guess("ch", "Le journal de tes humeurs")).toEqual(["fr-FR", "texts"])
    expect(await guess("us", "为你的每一天")).toEqual(["zh-Hans", "texts"])
    expect(await guess("us", "為你的每一天，讓學習開始")).toEqual(["zh-Hant", "texts"])
    expect(await guess("de", "118 712")).toEqual(["de-DE", "storefront"])
  })

  test("a locale that the storefront does not read is reported, but missing tracked keywords are not", async () => {
    const { body } = await validate({ locale: "ja", country: "de", name: "日記", subtitle: "", keywords: "" })
    expect(body.findings).toMatchObject([{ code: "locale_not_read", field: null, what: "ja", offset: null }])
    expect(body.storefrontLocales).toEqual(["de-DE", "en-GB"])
    expect(body.coverage).toMatchObject({ leftOut: 1 })
  })

  test("a listing in another Unicode composition gives the same result", async () => {
    const name = "Gemütliches Café 한글"
    const composed = (await validate({ name, locale: "de" })).body
    expect((await validate({ name: name.normalize("NFD"), locale: "de" })).body).toEqual(composed)
    expect(composed.fields.name.length).toBe(points(name).length)
  })
})

describe("bounds of validate_listing", () => {
  test.each([
    ["name", 30],
    ["subtitle", 30],
    ["keywords", 100],
    ["promotionalText", 170],
    ["description", 4_000],
  ] as const)("the field %s with more than %d characters gives a finding and status 200", async (field, limit) => {
    for (const length of [limit, limit + 1, 10_000]) {
      const { status, body } = await validate({ locale: "en-US", [field]: "x".repeat(length) })
      expect(status).toBe(200)
      expect(body.fields[field]).toMatchObject({ length, over: Math.max(0, length - limit) })
      const codes = body.findings.map(({ code, characters }: { code: string; characters: number }) => [
        code,
        characters,
      ])
      expect(codes).toEqual(length > limit ? [["too_long", length - limit]] : [])
    }
  })

  test("a body of 64 KiB is accepted, and a larger one is refused", async () => {
    const room = 64 * 1024 - JSON.stringify({ keywords: "" }).length
    const { status, body, text } = await validate({ keywords: "ab,".repeat(room / 3) })
    expect(status).toBe(200)
    expect(body.findings.length).toBeLessThanOrEqual(150)
    expect(body.findingsLeftOut).toBeGreaterThan(20_000)
    expect(body.keywords).toHaveLength(200)
    expect(text.length).toBeLessThan(100_000)
    const over = await validate({ keywords: "a".repeat(room + 1) })
    expect([over.status, over.body.error]).toEqual([413, "body_too_large"])
  })

  test.each([
    [{ locale: "xx-YY" }, "invalid_arguments", "locale"],
    [{ locale: "" }, "invalid_arguments", "locale"],
    [{ locale: "eo" }, "invalid_arguments", "locale"],
    [{ locale: 1 }, "invalid_arguments", "locale"],
    [{ country: "zz" }, "bad_country", "country"],
    [{ name: 5 }, "invalid_arguments", "name"],
    [{ keywords: ["a", "b"] }, "invalid_arguments", "keywords"],
    [{ description: null }, "invalid_arguments", "description"],
    [{ title: "x" }, "invalid_arguments", "title"],
    [{ name: "a\u0000b" }, "invalid_arguments", "name"],
  ])("the body %j is refused as %s", async (body, code, field) => {
    const answer = await validate(body)
    expect([answer.status, answer.body.error, answer.body.field]).toEqual([400, code, field])
  })
})

describe("rights and price of validate_listing", () => {
  test("a validation costs 1 credit, and a refused call costs nothing", async () => {
    const { used } = (await validate({ name: "Lumen" })).credits
    expect((await validate({ name: "x".repeat(99) })).credits.used).toBe(used + 1)
    expect((await validate({ country: "zz" })).credits.used).toBe(used + 1)
  })

  test("validate_listing needs apps:read and an app of the workspace that the key has access to", async () => {
    const other = await service.key(workspaceId, { scopes: ["reviews:read"] })
    expect((await validate({}, { key: other })).body).toMatchObject({ error: "scope_required", scope: "apps:read" })
    const stranger = await service.key(await service.workspace())
    expect((await validate({}, { key: stranger })).body.error).toBe("not_found")
    const tracked = { workspaceId, iosId: "60778", countries: ["us"], keywords: [], origin: "own" }
    const limited = await service.key(workspaceId, { appList: [await trackOwn(sql, tracked)] })
    expect((await validate({}, { key: limited })).body.error).toBe("app_not_allowed")
    expect((await service.call(path(), { key })).body.error).toBe("method_not_allowed")
  })

  test("the free plan calls validate_listing as a tool", async () => {
    const free = await service.workspace({ plan: "free" })
    const id = await trackOwn(sql, { workspaceId: free, iosId: "60777" })
    const answer = await service.tool(
      "validate_listing",
      { appId: id, name: "Free Diary" },
      { key: await service.key(free) },
    )
    expect(answer.body.findings).toMatchObject([{ code: "price_word", what: "Free" }])
    expect(answer.credits.used).toBe(1)
  })

  test("a test key can validate only the sandbox's sample app", async () => {
    const trial = await service.key(workspaceId, { kind: "test" })
    const call = (id: string) =>
      service.call(`/v1/apps/${id}/validate-listing`, { method: "POST", key: trial, body: { name: "Lumen" } })
    expect((await call("app_lumenjournal")).body.coverage.keywords[0].term).toBe("journal")
    expect((await call(appId)).body.error).toBe("not_found")
  })

  test("validate_listing writes only to the ledger", async () => {
    const everything = async () => [
      await stored(sql),
      await sql`select * from due order by kind, platform, storefront, subject`,
      await sql`select count(*)::int as count from job`,
      await sql`select count(*)::int as count from confirm_token`,
      await sql`select count(*)::int as count from audit`,
      await sql`select * from alert order by id`,
    ]
    const before = JSON.stringify(await everything())
    expect((await validate({ name: "Lumen", keywords: "moodleaf", country: "fr" })).status).toBe(200)
    expect(JSON.stringify(await everything())).toBe(before)
  })
})

describe("rivals, names and keywords for a validation", () => {
  const backgroundOf = async (storefront: string) => {
    const [app] = await sql<{ id: string; iosApp: number; manualRivals: string[] }[]>`
      select id, ios_app as "iosApp", manual_rivals as "manualRivals" from tracked_app where id = ${appId}`
    return await readSurroundings(
      sql,
      { ...app!, androidApp: null, countries: ["us"], name: "Own" },
      { platform: "ios", storefront },
    )
  }

  test("rivals are the best-ranked apps and apps chosen by hand, except apps of the same developer", async () => {
    const { rivals, ...rest } = await backgroundOf("us")
    expect(rest).toEqual({
      name: "Lumen Journal",
      developer: "Lumen Labs, Inc.",
      tracked: ["mood diary", "daily journal"],
    })
    expect(rivals).toEqual([
      { name: "Moodleaf: Mood Tracker", developer: "Nordic Minds AB" },
      { name: "Inkwell - Notes", developer: "Ink AG" },
    ])
  })

  test("a validation for Google Play uses neither App Store rivals nor App Store names", async () => {
    const [app] = await sql<{ id: string; iosApp: number }[]>`
      select id, ios_app as "iosApp" from tracked_app where id = ${appId}`
    const tracked = { ...app!, androidApp: null, countries: ["us"], name: "Own", manualRivals: ["ios:60778"] }
    const { rivals, ...rest } = await readSurroundings(sql, tracked, { platform: "android", storefront: "us" })
    expect([rivals, rest]).toEqual([[], { name: "Own", developer: null, tracked: ["mood diary", "daily journal"] }])
  })

  test("if no ranks were measured, only the rivals chosen by hand are returned", async () => {
    expect((await backgroundOf("de")).rivals.map(({ name }) => name)).toEqual(["Inkwell - Notes"])
  })
})
