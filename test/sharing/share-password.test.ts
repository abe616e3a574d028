import { beforeAll, describe, expect, test } from "bun:test"
import { hash } from "node:crypto"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { readMarkup } from "../pages/markup.ts"
import { openService, type Service } from "../service.ts"
import { tally } from "../writes/writer.ts"
import { quickHash } from "./quick-hash.ts"
import { form, type Sharing, sharing } from "./share-scene.ts"

let sql: Sql
let service: Service
let scene: Sharing
let aheadMs = 0

beforeAll(async () => {
  sql = await freshDatabase()
  service = openService({ sql, now: () => new Date(Date.now() + aheadMs) })
  scene = await sharing(service, { name: "Hidden Name" })
})

let count = 0
const address = () => `10.2.${(++count >> 8) & 255}.${count & 255}`
const tried = (path: string, password: string, from: string) => service.call(path, { ...form(password), from })

/** Shares a page with a password that is quick to check. */
async function shared(password: string) {
  const created = await scene.share()
  await sql`
    update share_link
    set password = ${quickHash(password)}
    where sha256 = ${hash("sha256", created.token, "buffer")}`
  return created
}

/** Simulates that this many seconds have passed since all earlier tries. */
const letPass = (seconds: number) => sql`
  update secret_try
  set counts_until = counts_until - ${seconds}::int * interval '1 s',
    free_at = free_at - ${seconds}::int * interval '1 s'`

const status = ({ status }: { status: number }) => String(status)

describe("a page with a password", () => {
  test("a page with a password shows a form and nothing of the app until the password is entered", async () => {
    const { path } = await scene.share({ password: "open sesame" })
    const from = address()
    const locked = await service.call(path, { from })
    expect(locked.status).toBe(200)
    expect(locked.text).toContain('<form method="post">')
    expect(locked.text).not.toContain("Hidden Name")
    const wrong = await tried(path, "open sesamE", from)
    expect(wrong.status).toBe(403)
    expect(wrong.text).toContain("That is not the password.")
    expect(wrong.text).not.toContain("Hidden Name")
    expect(wrong.text).not.toContain("sesam")
    expect(readMarkup(wrong.text)).toMatchObject({ unbalanced: [], bare: [] })
    const right = await tried(path, "open sesame", from)
    expect(right.status).toBe(200)
    expect(right.text).toContain("Hidden Name")
    for (const { headers } of [locked, wrong, right]) {
      expect(headers.get("cache-control")).toBe("private, no-store")
      expect(headers.get("content-security-policy")).toContain("form-action 'self'")
    }
    expect([locked, wrong].map(({ headers }) => headers.get("set-cookie"))).toEqual([null, null])
    expect((await service.call(path, { from })).text).not.toContain("Hidden Name")
  })

  test("after the password, a cookie keeps the page open from any address", async () => {
    const [{ path, token }, other] = [await shared("x"), await shared("x")]
    const cookies = []
    for (const from of [address(), address()]) {
      const { headers } = await tried(path, "x", from)
      const [pair, ...attributes] = headers.get("set-cookie")!.split("; ")
      expect(attributes).toEqual([
        "HttpOnly",
        "SameSite=Lax",
        `Path=${path}`,
        expect.stringMatching(/^Max-Age=\d{5,7}$/),
      ])
      cookies.push(pair)
    }
    expect(new Set(cookies).size).toBe(1)
    const headers = { cookie: `theme=dark; ${cookies[0]}` }
    const opened = await service.call(path, { from: address(), headers })
    expect([opened.status, opened.text.includes("Hidden Name")]).toEqual([200, true])
    expect((await service.call(other.path, { from: address(), headers })).text).not.toContain("Hidden Name")
    for (const value of ["", "unlocked=", `${cookies[0]}x`, cookies[0]!.slice(0, -1)])
      expect((await service.call(path, { from: address(), headers: { cookie: value } })).text).not.toContain("Hidden")
    await sql`delete from share_link where sha256 = ${hash("sha256", token, "buffer")}`
    expect((await service.call(path, { from: address(), headers })).status).toBe(404)
  })

  slow("a password of up to 128 characters is accepted in composed and decomposed Unicode", async () => {
    for (const password of ["x", " ", "a&b=c+d%20", "Käse", "😀".repeat(128)]) {
      const { path } = await shared(password)
      expect([password, (await tried(path, password, address())).status]).toEqual([password, 200])
      expect((await tried(path, password.normalize("NFD"), address())).status).toBe(200)
      for (const other of ["", `${password} `, password.toUpperCase().concat("!"), "😀".repeat(129)])
        expect([other, (await tried(path, other, address())).status]).toEqual([other, 403])
    }
  })

  test("a malformed password request is refused and does not count as a try", async () => {
    const { path } = await shared("x")
    const from = address()
    const headers = { "content-type": "application/x-www-form-urlencoded" }
    const send = (body: string, type = headers["content-type"]) =>
      service.call(path, { method: "POST", from, body, headers: { "content-type": type } })
    for (let i = 0; i < 2; i++) {
      expect((await send('{"password":"x"}', "application/json")).status).toBe(415)
      expect((await send("password=x", "multipart/form-data")).status).toBe(415)
      expect((await send(`password=${"x".repeat(4_088)}`)).status).toBe(413)
      expect((await send("")).status).toBe(400)
      expect((await send("password=x&password=x")).status).toBe(400)
    }
    expect((await send(`password=${"x".repeat(4_087)}`)).status).toBe(403)
    expect((await send("password=x")).status).toBe(200)
  })

  test("an expired page stays closed, even with the right password", async () => {
    const { path, token } = await shared("x")
    await sql`
      update share_link
      set expires_at = now(), created_at = now() - interval '1 day'
      where sha256 = ${hash("sha256", token, "buffer")}`
    expect((await tried(path, "x", address())).status).toBe(404)
  })
})

describe("tries of a password", () => {
  test("after five wrong passwords in a minute, even the right password is refused until the next minute", async () => {
    const { path } = await shared("x")
    const from = address()
    for (let i = 0; i < 5; i++) expect((await tried(path, `no ${i}`, from)).status).toBe(403)
    const refused = await tried(path, "x", from)
    expect(refused.status).toBe(429)
    expect(refused.text).not.toContain("Hidden Name")
    const wait = Number(refused.headers.get("retry-after"))
    expect(wait >= 30 && wait <= 60).toBe(true)
    await letPass(20)
    expect((await tried(path, "x", from)).status).toBe(429)
    await letPass(40)
    expect((await tried(path, "x", from)).status).toBe(200)
  })

  test("failed tries are counted separately for each link and address", async () => {
    const [{ path }, other] = [await shared("x"), await shared("x")]
    const from = address()
    for (let i = 0; i < 5; i++) await tried(path, "no", from)
    expect((await tried(path, "x", from)).status).toBe(429)
    expect((await tried(path, "x", address())).status).toBe(200)
    expect((await tried(other.path, "x", from)).status).toBe(200)
  })

  test("addresses in the same IPv6 /48 network share their limit of tries", async () => {
    const { path } = await shared("x")
    for (let i = 0; i < 5; i++) await tried(path, "no", `2001:db8:1:${i + 2}::1`)
    expect((await tried(path, "x", "2001:db8:1:99::1")).status).toBe(429)
    expect((await tried(path, "x", "2001:db8:2:2::1")).status).toBe(200)
  })

  test("only five of twenty concurrent wrong passwords are checked", async () => {
    const { path } = await shared("x")
    const from = address()
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => tried(path, `no ${i}`, from)))
    expect(tally(answers.map(status))).toEqual({ 403: 5, 429: 15 })
  })

  test("the right password does not count as a try", async () => {
    const { path } = await shared("x")
    const from = address()
    for (let i = 0; i < 8; i++) expect((await tried(path, "x", from)).status).toBe(200)
    for (let i = 0; i < 4; i++) expect((await tried(path, "no", from)).status).toBe(403)
    expect((await tried(path, "x", from)).status).toBe(200)
  })

  slow("each try deletes at most twenty expired tries from the database", async () => {
    await sql`delete from secret_try`
    for (const { path } of [await shared("x"), await shared("x"), await shared("x")])
      for (let i = 0; i < 10; i++) await tried(path, "no", address())
    await letPass(7_200)
    // ten addresses and the link, three times
    expect((await sql`select from secret_try`).count).toBe(33)
    await tried((await shared("x")).path, "no", address())
    expect((await sql`select from secret_try`).count).toBe(33 - 20 + 2)
  })

  test("a failed try stores and logs no address", async () => {
    const { path } = await shared("x")
    await tried(path, "no", "198.51.100.77")
    const rows = await sql<{ text: string }[]>`select t::text as text from secret_try t`
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain("198.51.100")
    expect(service.logged.join("")).not.toContain("198.51.100")
  })
})

describe("a flood of tries from changing addresses", () => {
  const ticketIn = (text: string) => /name="ticket" value="([^"]+)"/.exec(text)![1]!
  /** Makes twenty tries at the link. The last one was made a minute ago. */
  async function flooded(path: string): Promise<void> {
    for (let i = 0; i < 20; i++) await tried(path, `no ${i}`, address())
    await letPass(60)
  }

  slow(
    "a flood of tries does not lock out readers with a cookie or an opened form, or readers of other links",
    async () => {
      const [{ path }, other] = [await scene.share({ password: "x" }), await scene.share({ password: "x" })]
      const { headers } = await tried(path, "x", address())
      const cookie = headers.get("set-cookie")!.split(";")[0]!
      const flood = await Promise.all(Array.from({ length: 120 }, (_, i) => tried(path, `no ${i}`, address())))
      const checkedCount = flood.filter(({ status }) => status === 403).length
      expect(checkedCount).toBeLessThanOrEqual(20)
      expect((await tried(other.path, "x", address())).status).toBe(200)
      expect((await service.call(path, { from: address(), headers: { cookie } })).text).toContain("Hidden Name")

      await letPass(60)
      const from = address()
      const ticket = ticketIn((await service.call(path, { from })).text)
      for (let i = 0; i < 50; i++) expect((await tried(path, "x", address())).status).toBe(429)
      aheadMs += 2_000
      const { body, ...rest } = form("x")
      const honest = await service.call(path, { ...rest, body: `${body}&ticket=${ticket}`, from })
      expect([honest.status, honest.text.includes("Hidden Name")]).toEqual([200, true])
    },
  )

  test("during a flood, a form works only for its own address and link, from 1 s to 10 min after opening", async () => {
    const [{ path }, other] = [await shared("x"), await shared("x")]
    await flooded(path)
    await flooded(other.path)
    const from = address()
    const ticket = ticketIn((await service.call(path, { from })).text)
    const send = async (to: string, value: string, by = from) => {
      await letPass(60)
      const { body, ...rest } = form("x")
      return (await service.call(to, { ...rest, body: `${body}&ticket=${value}`, from: by })).status
    }
    expect(await send(path, ticket)).toBe(429)
    aheadMs += 2_000
    expect(await send(path, ticket, address())).toBe(429)
    expect(await send(other.path, ticket)).toBe(429)
    expect(await send(path, `${ticket}x`)).toBe(429)
    expect(await send(path, ticket)).toBe(200)
    aheadMs += 600_000
    expect(await send(path, ticket)).toBe(429)
  })
})
