import { beforeAll, describe, expect, test } from "bun:test"
import { hash } from "node:crypto"
import type { Sql, Tx } from "../../src/database/types.ts"
import { removeOld } from "../../src/measuring/retention/remove-old.ts"
import { RETENTION } from "../../src/recording.ts"
import { removeApp } from "../../src/tracking/apps.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { readMarkup } from "../pages/markup.ts"
import { type Answer, openService, type Service } from "../service.ts"
import { dayAgo } from "../world/clock.ts"
import { tally } from "../writes/writer.ts"
import { form, readPage, type Sharing, sharing } from "./share-scene.ts"

let sql: Sql
let service: Service
let scene: Sharing

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql })
  scene = await sharing(service, { keywords: ["tea", "green tea", "oolong"] })
  for (const [ago, rank] of [
    [3, 9],
    [2, 7],
    [0, 4],
  ] as const)
    await scene.measure("tea", ago, rank)
  await scene.measure("green tea", 0, 0)
  await readPage(service, scene.iosId)
})

let count = 0
/** Returns a new address from which no request was sent yet. */
const from = () => `10.1.${(++count >> 8) & 255}.${count & 255}`
const open = (path: string, options: object = {}) => service.call(path, { from: from(), ...options })
const expireAt = (token: string, at: string) =>
  sql`
    update share_link
    set expires_at = now() + ${at}::interval, created_at = now() - interval '1 day'
    where sha256 = ${hash("sha256", token, "buffer")}`
const textOf = (page: string) =>
  page
    .replace(/<style>[^<]*<\/style>/, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
const rowOf = (page: string, term: string) =>
  textOf(page.split("<tr>").find((row) => row.includes(`<bdi>${term}</bdi>`)) ?? "")
    .split("Ranks over time")[0]!
    .trim()

const POLICY = new RegExp(
  "^default-src 'none'; style-src 'sha256-([\\w+/]+=)'; img-src data:; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'$",
)

/** Checks the headers that every response below /share/ has. */
function expectPrivate({ headers, text }: Answer): void {
  expect(headers.get("content-type")).toBe("text/html; charset=utf-8")
  expect(headers.get("cache-control")).toBe("private, no-store")
  expect(headers.get("referrer-policy")).toBe("no-referrer")
  expect(headers.get("x-robots-tag")).toBe("noindex, nofollow")
  expect(headers.get("set-cookie")).toBeNull()
  expect(headers.get("access-control-allow-origin")).toBeNull()
  const [, named] = POLICY.exec(headers.get("content-security-policy") ?? "") ?? []
  const [, style] = /<style>([^<]*)<\/style>/.exec(text) ?? []
  expect(hash("sha256", style as string, "base64")).toBe(named as string)
  const { unbalanced, bare, tags, attributes, ids } = readMarkup(text)
  expect([unbalanced, bare]).toEqual([[], []])
  expect(new Set(ids).size).toBe(ids.length)
  for (const tag of ["script", "img", "iframe", "object", "a", "embed"]) expect(tags.has(tag)).toBe(false)
  for (const name of attributes) expect(name).not.toMatch(/^(on|style$|src|xlink|action$)/)
  expect(text).not.toMatch(/https?:\/\//)
}

describe("a shared page", () => {
  test("a shared page shows in words whether a keyword is ranked, absent or unmeasured", async () => {
    const answer = await open((await scene.share()).path)
    expect(answer.status).toBe(200)
    expectPrivate(answer)
    expect(rowOf(answer.text, "tea")).toMatch(/^tea 4 ▲ Up 3 since \d+ \w{3}$/)
    expect(rowOf(answer.text, "green tea")).toBe("green tea Not in the first 200 No earlier day")
    expect(rowOf(answer.text, "oolong")).toBe("oolong Not measured")
    expect(textOf(answer.text)).toContain("(UTC), first 200, an imported reading.")
    expect(answer.text).toContain(`Search results of <time datetime="${dayAgo(0)}">`)
    expect(answer.text).toContain("Storefront: United States.")
  })

  test("a shared page shows the facts of the store page with their reading time, and omits missing facts", async () => {
    const text = textOf((await open((await scene.share()).path)).text)
    for (const fact of [
      "Version 4.1 , released 1 May 2026",
      "Average rating 4.60 of 5",
      "Ratings 5,000, ",
      "Price 2.99 USD",
      "Languages 2",
      "Screenshots, phone 2",
      "Screenshots, tablet 1",
    ])
      expect(text).toContain(fact)
    expect(text).toMatch(/Read \d+ \w+ \d{4}, 03:25 UTC from the app&#39;s page on the App Store/)
    for (const absent of ["Installs", "Age rating", "Category", "null", "undefined", "NaN", "Google Play"])
      expect(text).not.toContain(absent)
  })

  test("a shared page of an unmeasured app says that it is not measured and shows no zeros", async () => {
    const bare = await sharing(service, { androidPkg: "com.example.tea", keywords: [] })
    const answer = await open((await bare.share()).path)
    expectPrivate(answer)
    const text = textOf(answer.text)
    expect(text.match(/No keyword is tracked/g)).toHaveLength(2)
    expect(text.match(/The page was never read, so its content is unknown/g)).toHaveLength(2)
    expect(text.match(/Ratings not measured/g)).toHaveLength(2)
    expect(text).not.toMatch(/Ratings 0|Average rating 0/)
  })

  test("a shared page names the source of each measured day and says that two sources are not compared", async () => {
    const ownScene = await sharing(service, { keywords: ["whose"] })
    await ownScene.measure("whose", 1, 9, { source: "apple-web-search" })
    await ownScene.measure("whose", 0, 4)
    const text = textOf((await open((await ownScene.share()).path)).text)
    expect(text).toContain("Read by 2 sources, whose ranks are not compared.")
    expect(text).toMatch(/Day Rank Read by .* 4 an imported reading .* 9 App Store search on the web/)
  })

  test("a shared page does not compare two days of different sources or different search depths", async () => {
    const ownScene = await sharing(service, { keywords: ["a", "b"] })
    await ownScene.measure("a", 1, 9, { source: "apple-web-search" })
    await ownScene.measure("a", 0, 4)
    await ownScene.measure("b", 1, 150)
    await ownScene.measure("b", 0, 0, { depth: 50, results: [{ id: "300000000" }] })
    const { text } = await open((await ownScene.share()).path)
    expect(rowOf(text, "a")).toMatch(/^a 4 first 200, an imported reading Not comparable since/)
    expect(rowOf(text, "b")).toMatch(/^b Not in the first 50 first 50, an imported reading Not comparable since/)
    expect(text.split('class="line" d="')[1]?.startsWith('"')).toBe(true)
  })

  slow("a shared page has at most twelve charts per store, and a note if more keywords are measured", async () => {
    const keywords = Array.from({ length: 13 }, (_, i) => `tea ${i}`)
    const ownScene = await sharing(service, { keywords })
    const charts = async () => {
      const { text } = await open((await ownScene.share()).path)
      return [text.split("<svg ").length - 1, text.includes("Only the first 12 measured keywords have charts.")]
    }
    for (const term of keywords.slice(0, 12)) await ownScene.measure(term, 0, 3)
    expect(await charts()).toEqual([12, false])
    await ownScene.measure(keywords[12]!, 0, 0)
    expect(await charts()).toEqual([12, true])
  })

  test("a shared page escapes hostile names", async () => {
    const hostile = `</title><script>alert(1)</script>"'><svg onload=x>&amp;`
    const ownScene = await sharing(service, {
      name: hostile,
      keywords: [`<img src=x onerror=alert(1)>`, `"><b>\u202e`],
    })
    await ownScene.measure(`<img src=x onerror=alert(1)>`, 0, 3)
    await ownScene.measure(`"><b>\u202e`, 0, 0)
    await readPage(service, ownScene.iosId, { version: "<i>4</i>" })
    const answer = await open((await ownScene.share()).path)
    expectPrivate(answer)
    expect(answer.text).toContain("&lt;/title&gt;&lt;script&gt;alert(1)")
    expect(answer.text).toContain("&lt;i&gt;4&lt;/i&gt;")
  })

  test("a shared page stays the same after its sources changed and the app was deleted", async () => {
    const ownScene = await sharing(service, { keywords: ["white tea"] })
    await ownScene.measure("white tea", 1, 5)
    const { path } = await ownScene.share()
    const { text } = await open(path)
    expect(rowOf(text, "white tea")).toStartWith("white tea 5")
    await ownScene.measure("white tea", 0, 1)
    expect(rowOf((await open((await ownScene.share()).path)).text, "white tea")).toStartWith("white tea 1")
    await sql`update tracked_app set name = 'Other' where id = ${ownScene.app}`
    expect((await open(path)).text).toBe(text)
    await sql.begin((tx) => removeApp(tx as Tx, ownScene.app))
    expect((await open(path)).text).toBe(text)
  })

  test("a shared page answers HEAD with the headers of GET and no body, and other methods with 405", async () => {
    const { path } = await scene.share()
    const [get, head] = [await open(path), await open(path, { method: "HEAD" })]
    expect([head.status, head.text]).toEqual([200, ""])
    const comparable = ({ headers }: Answer) => [...headers].filter(([name]) => name !== "x-request-id").sort()
    expect(comparable(head)).toEqual(comparable(get))
    expect(head.headers.get("content-length")).toBe(String(new TextEncoder().encode(get.text).length))
    for (const method of ["PUT", "DELETE", "OPTIONS", "PATCH"]) {
      const refused = await open(path, { method })
      expectPrivate(refused)
      expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"])
    }
  })
})

describe("a link that opens nothing", () => {
  test("a link that is unknown, expired, or of a suspended or deleted workspace gets the same 404", async () => {
    const unknown = await open(`/share/${"A".repeat(43)}`)
    expect(unknown.status).toBe(404)
    expectPrivate(unknown)
    const ownScene = await sharing(service)
    const [over, locked] = [await ownScene.share(), await ownScene.share({ password: "x" })]
    await expireAt(over.token, "0 s")
    await expireAt(locked.token, "-1 s")
    const answers = [
      await open(over.path),
      await open(over.path, { method: "POST" }),
      await open(locked.path),
      await open(locked.path, form("x")),
      await open("/share/short"),
      await open("/share/"),
      await open("/share/a/b"),
      await open(`${over.path}x`),
      await open(`/share/${"%41".repeat(43)}`),
    ]
    for (const { status, text } of answers) expect([status, text]).toEqual([404, unknown.text])
    const { path } = await ownScene.share()
    for (const column of ["suspended_at", "deleted_at"]) {
      await sql`update workspace set ${sql(column)} = now() where id = ${ownScene.writer.workspace}`
      expect((await open(path)).text).toBe(unknown.text)
      await sql`update workspace set ${sql(column)} = null where id = ${ownScene.writer.workspace}`
      expect((await open(path)).status).toBe(200)
    }
  })

  slow("a link works until its last second, by the database's clock", async () => {
    const { path, token } = await scene.share()
    await expireAt(token, "1 s")
    expect((await open(path)).status).toBe(200)
    await Bun.sleep(1_050)
    expect((await open(path)).status).toBe(404)
  })

  slow("the clean-up deletes expired links and old password tries", async () => {
    const ownScene = await sharing(service)
    const [over, lasting] = [await ownScene.share({ password: "x" }), await ownScene.share()]
    await open(over.path, form("no"))
    await expireAt(over.token, "-1 s")
    await sql`update secret_try set counts_until = counts_until - interval '2 hours'`
    const retention = { ledgerDays: 0, attemptDays: 0, jobDays: 0, auditDays: 0, alertDays: 0 }
    const removed = await removeOld(sql, RETENTION, retention, { pauseMs: 0 })
    expect(removed.share_link).toBeGreaterThan(0)
    expect(removed.secret_try).toBeGreaterThan(0)
    expect((await open(lasting.path)).status).toBe(200)
    const remaining = await sql`select from share_link where workspace_id = ${ownScene.writer.workspace}`
    expect([remaining.count, (await sql`select from secret_try`).count]).toEqual([1, 0])
    expect(await removeOld(sql, RETENTION, retention, { pauseMs: 0 })).toMatchObject({ share_link: 0, secret_try: 0 })
  })

  test("a link with a key in its address is refused with key_in_url", async () => {
    const { status, body } = await open(`/share/svc_live_${"a".repeat(36)}`)
    expect([status, body.error]).toEqual([400, "key_in_url"])
  })
})

test("while the database is unavailable, a link returns 503 with a time to retry", async () => {
  const { path } = await scene.share()
  const unreachable = openService({ sql: (() => Promise.reject({ code: "ECONNREFUSED" })) as unknown as Sql })
  const answer = await unreachable.call(path)
  expectPrivate(answer)
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "2"])
})

test("a HEAD request returns the content length of the GET response", async () => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => service.app.fetch(request, from()) })
  const { path } = await scene.share()
  const url = `${server.url.origin}${path}`
  const headers = { "accept-encoding": "identity" }
  const [get, head] = [await fetch(url, { headers }), await fetch(url, { method: "HEAD", headers })]
  const { byteLength } = await get.arrayBuffer()
  expect([get.headers.get("content-length"), head.headers.get("content-length")]).toEqual([
    `${byteLength}`,
    `${byteLength}`,
  ])
  expect((await head.arrayBuffer()).byteLength).toBe(0)
  await server.stop(true)
})

test("an address with more than 20 requests per second is refused with a time to retry", async () => {
  const at = new Date()
  const still = openService({ sql, now: () => at })
  const answers = await Promise.all(Array.from({ length: 25 }, () => still.call("/share/none", { from: "10.9.9.9" })))
  expect(tally(answers.map(({ status }) => String(status)))).toEqual({ 404: 20, 429: 5 })
  expect(answers.at(-1)?.headers.get("retry-after")).toBe("1")
  expect((await still.call("/share/none", { from: "10.9.9.8" })).status).toBe(404)
})
