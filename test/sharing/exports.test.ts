import { describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { removeApp } from "../../src/tracking/apps.ts"
import { removeTerms } from "../../src/tracking/terms.ts"
import { slow } from "../long.ts"
import { HOSTILE } from "../pages/hostile.ts"
import { openService, PUBLIC_URL } from "../service.ts"
import { ago, exportScene, OTHERS, OWN_APP } from "./export-scene.ts"
import { readTable } from "./read-csv.ts"

setDefaultTimeout(60_000)

const scene = exportScene()

describe("a file", () => {
  test("an export of history has a row only for each measured day, including days when the app is absent", async () => {
    const { url, rows } = await scene.exported()
    const same = { country: "us", platform: "ios", measured: "true", searchDepth: "3", source: "import" }
    const read = readTable((await scene.open(url)).text)
    expect(read).toEqual([
      { day: ago(3), term: "tea", rank: "2", ...same },
      { day: ago(1), term: "tea", rank: "3", ...same },
      { day: ago(1), term: "kettle", rank: "", ...same },
    ])
    expect(rows).toBe(read.length)
  })

  test("an export of keywords distinguishes ranked, absent and unmeasured; an unknown value is empty", async () => {
    const { url } = await scene.exported({ dataset: "keywords" })
    const read = readTable((await scene.open(url)).text)
    expect(read.map(({ term, measured, rank, searchDepth }) => [term, measured, rank, searchDepth])).toEqual([
      ["tea", "true", "3", "3"],
      ["kettle", "true", "", "3"],
      ["never read", "false", "", ""],
    ])
    for (const { day, demand, popularity, difficulty, popularityNone } of read)
      expect([day, demand, popularity, difficulty, popularityNone]).toEqual([ago(1), "", "", "", "false"])
  })

  slow("an export of keywords equals list_keyword_ranks, and an export of reviews equals search_reviews", async () => {
    const json = async (dataset: string) =>
      JSON.parse((await scene.open((await scene.exported({ dataset, format: "json" })).url)).text)
    const get = async (path: string) =>
      (await scene.service.call(`/v1/apps/${scene.app}/${path}`, { key: scene.key })).body
    const listed = await get("keywords")
    const sharedFields = Object.keys((await json("keywords")).rows[0]).filter((name) => name in listed.keywords[0])
    expect(sharedFields).toContain("difficultyBand")
    const only = (row: Record<string, unknown>) => Object.fromEntries(sharedFields.map((name) => [name, row[name]]))
    expect((await json("keywords")).rows.map(only)).toEqual(listed.keywords.map(only))
    const { reviews } = await get(`reviews/search?from=${ago(89)}`)
    const rest = { country: "us", platform: "ios", feed: "us" }
    expect((await json("reviews")).rows).toEqual(reviews.map((review: object) => ({ ...review, ...rest })))
    expect(reviews).toHaveLength(2)
  })

  test("a JSON export describes its contents, keeps texts unchanged, and has no author names", async () => {
    const text = '=1+1\r\n"quoted", \u2028 café 😀'
    await scene.review([{ id: "14", title: "@title", text, at: new Date(`${ago(1)}T05:00:00Z`) }])
    const { url } = await scene.exported({ dataset: "reviews", format: "json" })
    const { text: body, headers } = await scene.open(url)
    const { rows, frozenAt, ...head } = JSON.parse(body)
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8")
    expect(body.startsWith("\uFEFF")).toBe(false)
    expect(head).toEqual({
      appId: scene.app,
      dataset: "reviews",
      country: "us",
      platform: "ios",
      from: ago(89),
      to: ago(0),
      rowCount: 3,
    })
    expect(Date.parse(frozenAt)).toBeGreaterThan(0)
    expect(rows.map(({ id }: { id: string }) => id)).toEqual(["14", "12", "11"])
    expect([rows[0].text, rows[0].title, rows[1].title, rows[0].rating]).toEqual([text, "@title", null, 4])
    expect(Object.keys(rows[0]).sort()).toEqual([
      "country",
      "date",
      "feed",
      "id",
      "platform",
      "rating",
      "seenAt",
      "text",
      "title",
      "version",
    ])
  })

  test("a CSV export neutralises twelve hostile texts and keeps numbers; JSON keeps the texts unchanged", async () => {
    const at = new Date(`${ago(1)}T05:00:00Z`)
    await scene.review(HOSTILE.map((text, place) => ({ id: String(20 + place), title: text, text, at })))
    const csv = await scene.open((await scene.exported({ dataset: "reviews" })).url)
    const json = await scene.open((await scene.exported({ dataset: "reviews", format: "json" })).url)
    const written = new Map(readTable(csv.text).map((row) => [row.id, row]))
    const raw = new Map(JSON.parse(json.text).rows.map((row: { id: string }) => [row.id, row]))
    expect([written.size, raw.size]).toEqual([14, 14])
    for (const [place, text] of HOSTILE.entries()) {
      const id = String(20 + place)
      expect(raw.get(id)).toMatchObject({ title: text, text, rating: 4 })
      const cells = written.get(id)!
      expect(cells.rating).toBe("4")
      for (const cell of [cells.title, cells.text] as string[]) {
        expect([cell.startsWith("'"), cell.replaceAll("'", "")]).toEqual([true, text.replaceAll("'", "")])
      }
    }
    expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present")
  })
})

describe("a confirmed file", () => {
  slow("a confirmed file never changes, whatever is read, edited, untracked or deleted afterwards", async () => {
    const urls: string[] = []
    for (const dataset of ["keywords", "history", "reviews"])
      for (const format of ["csv", "json"]) urls.push((await scene.exported({ dataset, format })).url)
    const texts = async () => await Promise.all(urls.map(async (url) => (await scene.open(url)).text))
    const before = await texts()
    const stays = async () => expect(await texts()).toEqual(before)
    await scene.measure("tea", 1, [OWN_APP, ...OTHERS], { depth: 200 })
    await scene.measure("tea", 40, OTHERS)
    await scene.measure("never read", 1, [OWN_APP])
    await scene.review([{ id: "12", stars: 5, text: "Fixed", at: new Date(`${ago(1)}T08:00:00Z`) }], 0)
    await scene.review([{ id: "15", text: "Late, and older", at: new Date(`${ago(9)}T08:00:00Z`) }], 4)
    const changed = (await scene.exported({ dataset: "reviews" })).url
    expect((await scene.open(changed)).text).not.toBe(before[4])
    await stays()
    await scene.sql.begin((tx) => removeTerms(tx, scene.app, "all", ["tea"]))
    await stays()
    await scene.sql.begin((tx) => removeApp(tx, scene.app))
    await stays()
    await scene.sql`
      truncate search_results, rank_month, list_month, keyword_metric, review_version, review_read, review_day,
        review_feed`
    await scene.sql`update store_app_name set name = 'Another'`
    await stays()
    expect(before.every((text) => text.length > 100)).toBe(true)
  })
})

describe("recording during a confirm", () => {
  test.skipIf(!process.env.DATABASE_URL)(
    "postgres: new reviews are not recorded while a confirm holds the lock for the app's reviews",
    async () => {
      const late = scene.sql.begin(async (tx) => {
        // the lock that a confirm takes
        await tx`
          select pg_advisory_xact_lock(hashtextextended('reviews ' || id || ' us', 0))
          from store_app
          where platform = 'ios' and store_id = ${OWN_APP}`
        const recording = scene.review([{ id: "19", text: "New", at: new Date(`${ago(1)}T04:00:00Z`) }])
        await Bun.sleep(300)
        const rows = await tx`select review_id from review_version where review_id = '19'`
        return { recording, before: rows.length }
      })
      const { recording, before } = (await late) as { recording: Promise<void>; before: number }
      await recording
      const after = await scene.sql`select review_id from review_version where review_id = '19'`
      expect([before, after.length]).toEqual([0, 1])
    },
  )
})

describe("a link", () => {
  test("a link returns the file as a private attachment, and HEAD returns only the headers", async () => {
    const { url } = await scene.exported()
    const { status, headers, text } = await scene.open(url)
    const headersOf = (from: Headers) => ({
      disposition: from.get("content-disposition"),
      cache: from.get("cache-control"),
      robots: from.get("x-robots-tag"),
      referrer: from.get("referrer-policy"),
      sniffing: from.get("x-content-type-options"),
      type: from.get("content-type"),
      cookie: from.get("set-cookie"),
      cors: from.get("access-control-allow-origin"),
      credits: from.get("x-credits-used"),
    })
    expect([status, headersOf(headers)]).toEqual([
      200,
      {
        disposition: `attachment; filename="${scene.app}-history-us-ios-${ago(89)}-${ago(0)}.csv"`,
        cache: "private, no-store",
        robots: "noindex, nofollow",
        referrer: "no-referrer",
        sniffing: "nosniff",
        type: "text/csv; charset=utf-8; header=present",
        cookie: null,
        cors: null,
        credits: "0",
      },
    ])
    const head = await scene.open(url, { method: "HEAD" })
    expect([head.status, head.text, headersOf(head.headers)]).toEqual([200, "", headersOf(headers)])
    expect((await scene.open(url)).text).toBe(text)
    const posted = await scene.open(url, { method: "POST" })
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"])
  })

  test("a link works for 7 days, then shows that it has expired until the export is deleted", async () => {
    const { url } = await scene.exported()
    const aged = async (age: string) => {
      await scene.sql`update export set created_at = now() - ${age}::interval`
      return await scene.open(url)
    }
    expect((await aged("6 days 23:59:30")).status).toBe(200)
    const expired = await aged("7 days")
    expect([expired.status, expired.headers.get("content-type")]).toEqual([410, "text/html; charset=utf-8"])
    expect(expired.text).toContain("This link has expired")
    expect(expired.text).not.toContain("tea")
    expect([expired.headers.get("cache-control"), expired.headers.get("x-robots-tag")]).toEqual([
      "private, no-store",
      "noindex, nofollow",
    ])
    await scene.sql`truncate export_part, export`
    expect((await scene.open(url)).status).toBe(404)
  })

  test("a link that is malformed, guessed, or of a suspended or deleted workspace shows the same page", async () => {
    const { url } = await scene.exported()
    const unknown = await scene.open(`${PUBLIC_URL}/exports/${"A".repeat(43)}`)
    expect([unknown.status, unknown.headers.get("content-disposition")]).toEqual([404, null])
    for (const token of ["x", `${"A".repeat(42)}%00`, `${url.split("/").at(-1)}x`, "..%2f..%2fetc"])
      expect((await scene.open(`${PUBLIC_URL}/exports/${token}`)).text).toBe(unknown.text)
    await scene.sql`update workspace set suspended_at = now() where id = ${scene.workspace}`
    expect((await scene.open(url)).text).toBe(unknown.text)
    await scene.sql`update workspace set suspended_at = null, deleted_at = now() where id = ${scene.workspace}`
    expect((await scene.open(url)).text).toBe(unknown.text)
    await scene.sql`update workspace set deleted_at = null where id = ${scene.workspace}`
    expect((await scene.open(url)).status).toBe(200)
    expect(scene.service.logged.join("")).not.toContain(url.split("/").at(-1) as string)
  })

  test("a path below an export link is not found, and a key in the path is refused", async () => {
    const at = async (path: string) =>
      (await scene.service.app.fetch(new Request(`${PUBLIC_URL}${path}`), "127.0.0.9")).status
    expect(await at("/exports")).toBe(404)
    expect(await at("/exports/")).toBe(404)
    expect(await at(`/exports/${"A".repeat(43)}/more`)).toBe(404)
    expect(await at("/exports/svc_live_000000000000000000000000000000000000")).toBe(400)
  })

  test("a link can be opened twenty times per second from one address", async () => {
    const from = async (address: string) =>
      (await scene.service.app.fetch(new Request(`${PUBLIC_URL}/exports/x`), address)).status
    const statuses: number[] = []
    for (let n = 0; n < 21; n++) statuses.push(await from("192.0.2.7"))
    expect(statuses).toEqual([...Array(20).fill(404), 429])
    expect(await from("192.0.2.8")).toBe(404)
  })

  test("a link shows that the database is unavailable and when to retry", async () => {
    const unreachable = openService({ sql: (() => Promise.reject({ code: "ECONNREFUSED" })) as unknown as Sql })
    const answer = await unreachable.app.fetch(new Request(`${PUBLIC_URL}/exports/${"A".repeat(43)}`), "127.0.0.9")
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"])
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8")
    expect(await answer.text()).toContain("Not available now")
  })
})
