import { beforeAll, expect, test } from "bun:test"
import type { Sql } from "../../src/database/types.ts"
import { freshDatabase } from "../database.ts"
import { openService, type Service } from "../service.ts"

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

let service: Service
beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
})

const opened = (path: string, accept = BROWSER, method = "GET") => service.call(path, { method, headers: { accept } })

test("a browser at an unknown address gets a page with links, which repeats no text of the address", async () => {
  for (const path of [
    "/nowhere",
    "/docs/operate/none",
    "/keywords?<script>alert(1)</script>",
    "/share",
    "/exports/a/b",
  ]) {
    const { status, headers, text } = await opened(path)
    expect([path, status, headers.get("content-type")]).toEqual([path, 404, "text/html; charset=utf-8"])
    expect([headers.get("cache-control"), headers.get("content-security-policy")]).toEqual([
      "no-store",
      expect.stringContaining("default-src 'none'"),
    ])
    expect(text).toContain("<h1>Not found</h1>")
    expect(text).not.toMatch(/<script>alert|nowhere|alert\(1/)
    // visitors are redirected from the owner's pages to the sign-in
    for (const [, address] of text.matchAll(/href="(\/[^"#]*)/g))
      expect([address, (await service.call(address as string)).status]).toEqual([
        address,
        address === "/app" ? 303 : 200,
      ])
  }
  expect((await opened("/nowhere", BROWSER, "HEAD")).status).toBe(404)
})

test("a browser that opens an address with a key gets a page that names key_in_url", async () => {
  const key = `svc_live_${"Canary0123456789".repeat(3).slice(0, 36)}`
  const { status, text } = await opened(`/?key=${key}`)
  expect([status, text]).toEqual([400, expect.stringContaining("key_in_url")])
  expect(text).not.toContain("Canary")
})

test("a program gets JSON at an unknown address, and so does every write and every caller below /v1", async () => {
  for (const accept of ["*/*", "application/json", "application/json, text/html", "text/plain", ""])
    expect((await opened("/nowhere", accept)).body.error).toBe("unknown_endpoint")
  expect((await service.call("/nowhere")).body.error).toBe("unknown_endpoint")
  for (const path of ["/v1/sandbox/nowhere", "/v1/nowhere", "/v1/apps"])
    expect((await opened(path)).headers.get("content-type")).toBe("application/json; charset=utf-8")
  expect((await opened("/nowhere", BROWSER, "POST")).body.error).toBe("unknown_endpoint")
})

test("a browser gets a page with status 503 if the database does not answer, for a GET and for a form", async () => {
  const unreachable = (() => Promise.reject({ code: "ECONNREFUSED" })) as unknown as Sql
  const { call } = openService({ sql: unreachable })
  const cookie = `appmeter=${"a".repeat(43)}; __Host-appmeter=${"a".repeat(43)}`
  for (const [path, method] of [
    ["/app", "GET"],
    ["/sign-in", "POST"],
  ] as const) {
    const headers = { accept: BROWSER, cookie, "content-type": "application/x-www-form-urlencoded" }
    const form = { headers, ...(method === "POST" && { method, body: "code=ABCD-EFGH" }) }
    const answer = await call(path, form)
    expect([path, answer.status, answer.headers.get("content-type")]).toEqual([path, 503, "text/html; charset=utf-8"])
    expect(answer.headers.get("retry-after")).toBe("1")
    expect(answer.text).toContain("<h1>Temporarily unavailable</h1>")
    const json = await call(path, { ...form, headers: { ...headers, accept: "*/*" } })
    expect([json.status, json.body.error]).toEqual([503, "unavailable"])
  }
})

test("/favicon.ico is the logo and may be cached", async () => {
  const { status, headers, text } = await opened("/favicon.ico")
  expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
    200,
    "image/svg+xml",
    "public, max-age=3600",
  ])
  expect(text).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg".*<\/svg>$/s)
  expect(
    (await service.call("/favicon.ico", { headers: { "if-none-match": headers.get("etag") as string } })).status,
  ).toBe(304)
})
