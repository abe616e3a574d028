import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { openService, PUBLIC_URL } from "../service.ts"

setDefaultTimeout(60_000)

let sql: Sql
beforeAll(async () => {
  sql = await freshDatabase()
})

const TOKEN = "A".repeat(43)
const AT = new Date("2025-11-20T10:00:00Z")

function opener(service = openService({ sql, now: () => AT })) {
  return (path: string, { method = "GET", from = "192.0.2.7" } = {}) =>
    Promise.resolve(service.app.fetch(new Request(`${PUBLIC_URL}${path}`, { method }), from))
}

function expectPrivate({ headers }: Response): void {
  expect(headers.get("cache-control")).toBe("private, no-store")
  expect(headers.get("x-robots-tag")).toBe("noindex, nofollow")
  expect(headers.get("referrer-policy")).toBe("no-referrer")
  expect(headers.get("x-content-type-options")).toBe("nosniff")
  expect(headers.get("access-control-allow-origin")).toBeNull()
  expect(headers.get("x-credits-used")).toBe("0")
  expect(headers.get("x-request-id")).not.toBeNull()
}

describe.each([
  ["exports", "GET, HEAD"],
  ["share", "GET, HEAD, POST"],
  ["feeds", "GET, HEAD"],
])("a link below /%s/", (folder, methods) => {
  test("an unknown link returns the same private 404 page for GET and HEAD", async () => {
    const open = opener()
    const [get, head] = [await open(`/${folder}/${TOKEN}`), await open(`/${folder}/${TOKEN}`, { method: "HEAD" })]
    for (const answer of [get, head]) {
      expect(answer.status).toBe(404)
      expectPrivate(answer)
    }
    const comparable = ({ headers }: Response) => [...headers].filter(([name]) => name !== "x-request-id").sort()
    expect(comparable(head)).toEqual(comparable(get))
    const text = await get.text()
    expect([await head.text(), get.headers.get("content-length")]).toEqual(["", String(Buffer.byteLength(text))])
    expect(await (await open(`/${folder}/${TOKEN}x`)).text()).toBe(text)
  })

  test("an address can open twenty links per second, and each kind of link has its own limit", async () => {
    const open = opener()
    const statuses = async (of: string) => {
      const answers: number[] = []
      for (let n = 0; n < 21; n++) answers.push((await open(`/${of}/x`)).status)
      return answers
    }
    const expected = [...Array(20).fill(404), 429]
    expect(await statuses(folder)).toEqual(expected)
    expect(await statuses(folder === "share" ? "exports" : "share")).toEqual(expected)
    expect((await open(`/${folder}/x`)).headers.get("retry-after")).toBe("1")
    expect((await open(`/${folder}/x`, { from: "192.0.2.8" })).status).toBe(404)
  })

  test("a link refuses a key in its address, and answers a wrong method with the allowed methods", async () => {
    const open = opener()
    for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const refused = await open(`/${folder}/x`, { method })
      expect([method, refused.status, refused.headers.get("allow")]).toEqual([method, 405, methods])
    }
    const keyed = await open(`/${folder}/svc_live_${"a".repeat(36)}`)
    expect([keyed.status, ((await keyed.json()) as { error: string }).error]).toEqual([400, "key_in_url"])
  })

  test("a link returns a private 503 page with a time to retry while the database is unavailable", async () => {
    // a fragment of a statement is rejected too, but never awaited, so its rejection is caught here
    const refuse = () => {
      const refused = Promise.reject({ code: "ECONNREFUSED" })
      refused.catch(() => {})
      return refused
    }
    const unreachable = refuse as unknown as Sql
    const answer = await opener(openService({ sql: unreachable }))(`/${folder}/${TOKEN}`)
    expect([answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([503, true])
    expectPrivate(answer)
  })
})
