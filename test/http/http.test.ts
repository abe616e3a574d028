import { beforeAll, describe, expect, test } from "bun:test"
import { catalog } from "../../src/catalog.ts"
import { readTree } from "../../src/database/assets.ts"
import { FAULT_CODES, FAULTS } from "../../src/lib/faults.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { catalogWithSamples, fixturesWithSamples } from "../samples.ts"
import { type CallOptions, openService, PUBLIC_URL, type Service } from "../service.ts"

let service: Service
let samples: Service
let key: string

const newKey = async () =>
  await service.key(
    await service.workspace({
      plan: "enterprise",
      explorer: true,
      overrides: { credits: 1_000_000, ratePerSecond: 100_000 },
    }),
  )

beforeAll(async () => {
  const sql = await freshDatabase()
  service = openService({ sql })
  samples = openService({ sql, catalog: catalogWithSamples, fixtures: fixturesWithSamples() })
  key = await newKey()
})

describe("every operation", () => {
  for (const { id, method, path } of catalog) {
    const { input } = JSON.parse(readTree("fixtures/sandbox", ".json").get(`${id}.json`) as string)
    const sample = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(input[name]))
    const rest = Object.entries<string>(input).filter(([name]) => !path.includes(`:${name}`))

    test(`${id}: the sandbox answers the sample path of a GET with the sample, and of a POST with 404`, async () => {
      const query = method === "GET" && rest.length > 0 ? `?${new URLSearchParams(rest)}` : ""
      const answer = await service.call(`/v1/sandbox${sample}${query}`, { method })
      // the sandbox has GET operations only, so it has no path of another method
      expect(answer.status).toBe(method === "GET" ? 200 : 404)
      if (method !== "GET") return
      const prepared = JSON.parse(readTree("fixtures/sandbox", ".json").get(`${id}.json`) as string).answer
      expect(Object.keys(answer.body)).toEqual(Object.keys(prepared))
    })

    test(`${id}: every other method, including HEAD, is refused free of charge and with Allow`, async () => {
      const used = new Set<number>()
      for (const wrong of ["PUT", "PATCH", "DELETE", "HEAD", method === "GET" ? "POST" : "GET"]) {
        const answer = await service.call(`/v1${sample}`, { key, method: wrong })
        expect([wrong, answer.status, answer.headers.get("allow")]).toEqual([wrong, 405, method])
        used.add(answer.credits.used)
      }
      expect(used.size).toBe(1)
    })

    test(`${id}: the sandbox refuses other methods of a GET with Allow: GET, and has no path of a POST`, async () => {
      for (const requested of ["GET", "HEAD", "POST", "OPTIONS", "DELETE"]) {
        const { status, headers } = await service.call(`/v1/sandbox${sample}`, { method: requested })
        const expected = method !== "GET" ? [404, null] : requested !== "GET" ? [405, "GET"] : null
        if (expected)
          expect([requested, status, headers.get("allow")]).toEqual([requested, ...expected] as typeof expected)
      }
    })

    test(`${id}: a path in another case or with a trailing slash gets 404`, async () => {
      for (const twin of [
        `/v1${sample}/`,
        `/v1${sample.replace(/[a-z]/, (c: string) => c.toUpperCase())}`,
        `/V1${sample}`,
        `/v1/${sample}`,
      ]) {
        expect((await service.call(twin, { key })).status).toBe(404)
      }
    })
  }
})

describe("the sandbox", () => {
  test("the sandbox answers only GET, needs no key, and valid parameters do not change a byte", async () => {
    const plain = await service.call("/v1/sandbox/apps")
    expect([plain.status, plain.credits]).toMatchObject([200, { used: 0, limit: 0, remaining: 0 }])
    expect(plain.headers.get("access-control-allow-origin")).toBe("*")
    const app = plain.body.apps[0].id
    const [a, b] = [
      await service.call(`/v1/sandbox/apps/${app}/keywords`),
      await service.call(`/v1/sandbox/apps/${app}/keywords?country=${plain.body.apps[0].countries[0].toUpperCase()}`),
    ]
    expect(a.text).toBe(b.text)
    for (const method of ["POST", "HEAD", "OPTIONS", "DELETE"]) {
      expect((await service.call("/v1/sandbox/apps", { method })).status).toBe(405)
    }
  })

  test("the sandbox checks route, input and ids like a live call", async () => {
    expect((await service.call("/v1/sandbox/nowhere")).body.error).toBe("unknown_endpoint")
    expect((await service.call("/v1/sandbox")).body.error).toBe("unknown_endpoint")
    expect((await service.call("/v1/sandbox/apps?limit=3")).body).toMatchObject({
      error: "invalid_arguments",
      field: "limit",
    })
    const app = (await service.call("/v1/sandbox/apps")).body.apps[0].id
    expect((await service.call(`/v1/sandbox/apps/${app}/keywords?country=zz`)).body.error).toBe("bad_country")
    expect((await service.call("/v1/sandbox/apps/app_other/keywords")).body.error).toBe("not_found")
  })

  test("every id in a sample answer leads to a sample answer for that id", async () => {
    const app = "/v1/sandbox/apps/app_lumenjournal"
    const { rivals } = (await service.call(`${app}/rivals`)).body
    expect(rivals.length).toBeGreaterThan(1)
    for (const { id, name } of rivals)
      for (const below of ["", "/market", "/adnetworks"]) {
        const { status, body } = await service.call(`${app}/rivals/${id}${below}`)
        expect([status, body.id, body.name]).toEqual([200, id, name])
      }
    for (const { rivalId } of (await service.call("/v1/sandbox/alerts")).body.alerts)
      if (rivalId !== null) expect((await service.call(`${app}/rivals/${rivalId}`)).body.id).toBe(rivalId)
    for (const { id } of (await service.call("/v1/sandbox/search?q=journal")).body.results)
      expect((await service.call(`/v1/sandbox/fetch?id=${encodeURIComponent(id)}`)).body.id).toBe(id)
    for (const { id } of (await service.call("/v1/sandbox/apps")).body.apps)
      expect((await service.call(`/v1/sandbox/apps/${id}`)).body.id).toBe(id)
    expect((await service.call(`${app}/rivals/9990000199`)).status).toBe(404)
  })

  test("the sandbox answers 304 to a matching ETag, and a test key gets the same bytes on the live URL", async () => {
    const first = await service.call("/v1/sandbox/apps")
    const etag = first.headers.get("etag") as string
    const conditional = await service.call("/v1/sandbox/apps", { headers: { "if-none-match": etag } })
    expect([conditional.status, conditional.text]).toEqual([304, ""])
    const testKey = await service.key(await service.workspace({ plan: "free" }), { kind: "test" })
    const keyed = await service.call("/v1/apps", { key: testKey })
    expect(keyed.text).toBe(first.text)
    expect(keyed.headers.get("cache-control")).toBe("private, no-store")
  })

  test("the sandbox limits calls per client address", async () => {
    const slow = openService({
      sql: service.sql,
      settings: { sandboxPerSecond: 3 },
      now: () => new Date("2026-11-02T10:00:00.500Z"),
    })
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) statuses.push((await slow.call("/v1/sandbox/apps", { from: "192.0.2.7" })).status)
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    expect((await slow.call("/v1/sandbox/apps", { from: "192.0.2.8" })).status).toBe(200)
  })

  test("documents have a rate limit per client address, counted separately from the sandbox", async () => {
    const slow = openService({
      sql: service.sql,
      settings: { sandboxPerSecond: 2 },
      now: () => new Date("2026-11-02T10:00:00.500Z"),
    })
    for (const path of ["/v1/openapi.json", "/llms.txt"])
      expect((await slow.call(path, { from: "192.0.2.7" })).status).toBe(200)
    const refused = await slow.call("/v1/openapi.json", { from: "192.0.2.7" })
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"])
    expect((await slow.call("/v1/sandbox/apps", { from: "192.0.2.7" })).status).toBe(200)
    expect((await slow.call("/v1/openapi.json", { from: "192.0.2.8" })).status).toBe(200)
  })
})

describe("bodies", () => {
  const post = (body: unknown, headers: Record<string, string> = {}): CallOptions => ({
    method: "POST",
    body,
    headers,
  })
  const bodies: [string, CallOptions, number, string][] = [
    [
      "a form",
      post("scope=track", { "content-type": "application/x-www-form-urlencoded" }),
      415,
      "unsupported_media_type",
    ],
    ["a compressed body", post({ scope: "track" }, { "content-encoding": "gzip" }), 415, "unsupported_media_type"],
    ["more than 64 KiB", post({ scope: "track", note: "x".repeat(65_536) }), 413, "body_too_large"],
    ["an array", post([1]), 400, "invalid_arguments"],
    ["null", post("null"), 400, "invalid_arguments"],
    ["broken JSON", post('{"scope":'), 400, "invalid_arguments"],
    [
      "nesting deeper than 32 levels",
      post(`{"scope":"track","note":${"[".repeat(40)}${"]".repeat(40)}}`),
      400,
      "invalid_arguments",
    ],
    ["an unknown argument", post({ scope: "track", workspaceId: 1 }), 400, "invalid_arguments"],
    ["the argument __proto__", post('{"scope":"track","__proto__":{"a":1}}'), 400, "invalid_arguments"],
  ]
  for (const [what, options, status, code] of bodies) {
    test(`the body is refused: ${what}`, async () => {
      const answer = await samples.call("/v1/samples", { key, ...options })
      expect([answer.status, answer.body.error]).toEqual([status, code])
    })
  }

  test("an absent body is an empty object, whatever content type the request names", async () => {
    for (const headers of [undefined, { "content-type": "application/json" }, { "content-type": "text/plain" }]) {
      const answer = await samples.call("/v1/samples", { key, method: "POST", ...(headers && { headers }) })
      // the sample operation requires the argument `scope`
      expect([answer.status, answer.body.error, answer.body.field]).toEqual([400, "invalid_arguments", "scope"])
    }
  })

  test("a body with invalid UTF-8 is refused", async () => {
    const body = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const response = await samples.app.fetch(
      new Request("http://x/v1/samples", { method: "POST", body, headers }),
      null,
    )
    expect(response.status).toBe(400)
  })
})

describe("queries", () => {
  const app = "app_neverexisted"
  const refused: [string, string, string, string][] = [
    ["a repeated parameter", `/v1/apps/${app}/keywords?country=us&country=de`, "bad_country", "country"],
    ["an unknown parameter", `/v1/apps/${app}/keywords?colour=red`, "invalid_arguments", "colour"],
    ["a malformed escape", `/v1/apps/${app}/keywords?country=%E0%A4%A`, "bad_country", "country"],
    ["a malformed escape in the path", "/v1/apps/%E0%A4%A/keywords", "invalid_arguments", "appId"],
    ["a path parameter again in the query", `/v1/apps/${app}/keywords?appId=x`, "invalid_arguments", "appId"],
    ["an unknown platform", `/v1/apps/${app}/keywords?platform=windows`, "invalid_arguments", "platform"],
    ["an empty storefront", `/v1/apps/${app}/keywords?country=`, "bad_country", "country"],
    ["an empty choice", `/v1/apps/${app}/keywords?platform=`, "invalid_arguments", "platform"],
    ["an empty number", "/v1/alerts?limit=", "invalid_arguments", "limit"],
    ["an empty list", `/v1/apps/${app}/competition?terms=`, "invalid_arguments", "terms"],
    ["an empty day", `/v1/apps/${app}/reviews/search?from=`, "bad_range", "from"],
    ["an empty text", `/v1/apps/${app}/reviews/search?q=`, "invalid_arguments", "q"],
    ["a parameter without an equals sign", `/v1/apps/${app}/keywords?country`, "bad_country", "country"],
    ["an unknown parameter without a value", "/v1/apps?foo", "invalid_arguments", "foo"],
    ["an unknown parameter with an empty value", "/v1/apps?foo=", "invalid_arguments", "foo"],
    [
      "a repeated parameter with one empty value",
      `/v1/apps/${app}/keywords?country=us&country=`,
      "bad_country",
      "country",
    ],
    ["an empty path parameter in the query", `/v1/apps/${app}/keywords?appId=`, "invalid_arguments", "appId"],
    ["the parameter __proto__", `/v1/apps/${app}/keywords?__proto__=1`, "invalid_arguments", "__proto__"],
    ["the parameter constructor", `/v1/apps/${app}/keywords?constructor=1`, "invalid_arguments", "constructor"],
  ]
  for (const [what, path, code, field] of refused) {
    test(`the query is refused with the name of the field: ${what}`, async () => {
      expect((await service.call(path, { key })).body).toMatchObject({ error: code, field })
    })
  }
})

describe("an empty value", () => {
  slow("an empty value is refused equally by REST and tools unless it has a meaning", async () => {
    const accepted: string[] = []
    for (const { id, method, path, input, names } of catalog.filter(({ method }) => method === "GET")) {
      const sampleInput = JSON.parse(readTree("fixtures/sandbox", ".json").get(`${id}.json`) as string).input
      const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(sampleInput[name]))
      for (const name of Object.keys(input.entries).filter((name) => !path.includes(`:${name}`) && name !== names)) {
        const { [name]: _, ...otherInput } = sampleInput
        const query = Object.entries<string>(otherInput).filter(([other]) => !path.includes(`:${other}`))
        const rest = await service.call(`/v1${filled}?${new URLSearchParams([...query, [name, ""]])}`, { key })
        const tool = await service.tool(id, { ...otherInput, [name]: "" }, { key })
        expect([method, id, name, tool.body]).toEqual([method, id, name, rest.body])
        if (rest.status === 400) expect(rest.body.field).toBe(name)
        else accepted.push(`${id} ${name}`)
      }
    }
    expect(accepted.toSorted()).toEqual([
      "draft_review_reply note",
      "get_featuring country",
      "hive_get_similar_apps country",
      "start_ai_check country",
    ])
  })
})

describe("public documents", () => {
  test("the link of every error code leads to its entry", async () => {
    const page = await service.call("/docs/errors")
    expect(page.status).toBe(200)
    for (const code of FAULT_CODES) expect(page.text).toContain(`id="${code}"`)
    const { docs } = (await service.call("/v1/nowhere", { key })).body
    expect(docs).toBe("http://127.0.0.1:8787/docs/errors#unknown_endpoint")
  })

  test("the docs link in an account's answer, /docs and the OpenAPI document exist", async () => {
    const { docs } = (await service.call("/v1/account", { key })).body
    expect((await service.call(new URL(docs).pathname)).status).toBe(200)
    expect((await service.call("/docs/")).headers.get("location")).toBe("/docs")
    const document = await service.call("/v1/openapi.json")
    expect(document.body).toMatchObject({ openapi: "3.1.0", info: { version: "1.5.0" } })
  })

  test("a key in the URL is refused on every path and never logged", async () => {
    for (const path of ["/", "/docs", "/livez", "/v1/openapi.json", "/v1/sandbox/apps", "/v1/apps", "/elsewhere"]) {
      for (const spelled of [key, key.replaceAll("_", "%5F"), `%73${key.slice(1)}`, `%2573${key.slice(1)}`]) {
        const answer = await service.call(`${path}?api_key=${spelled}`)
        expect([answer.status, answer.body.error]).toEqual([400, "key_in_url"])
        expect(answer.text).not.toContain(key.slice(9))
      }
    }
    expect((await service.call(`/v1/apps/${key}`)).body.error).toBe("key_in_url")
    expect(service.logged.join("")).not.toContain(key.slice(9))
  })

  test("a request without a usable Host header is answered like any other", async () => {
    const ask = async (path: string) => {
      const request = { method: "GET", url: path, headers: new Headers() } as unknown as Request
      return (await service.app.fetch(request, null)).status
    }
    expect([await ask("/livez"), await ask("/readyz"), await ask("/v1/sandbox/apps")]).toEqual([200, 200, 200])
  })

  test("outside of /v1 an unknown path returns 404 for every method", async () => {
    for (const path of ["/v1x", "/elsewhere"]) {
      for (const method of ["GET", "POST"]) {
        expect((await service.call(path, { method })).body.error).toBe("unknown_endpoint")
      }
    }
  })

  test("when the server stops, readiness fails before liveness", async () => {
    expect((await service.call("/readyz")).status).toBe(200)
    service.app.setReady(false)
    expect([(await service.call("/readyz")).status, (await service.call("/livez")).status]).toEqual([503, 200])
    service.app.setReady(true)
  })
})

describe("every fault of the table", () => {
  test("a fault is answered with its status, body and the caller's credits, and costs nothing", async () => {
    const statuses = new Set<number>()
    // uses a separate key, because charges by other processes could change the credits of a shared key between two
    // calls
    const key = await newKey()
    const before = await samples.call("/v1/samples/faults/not_found", { key })
    for (const code of FAULT_CODES) {
      const answer = await samples.call(`/v1/samples/faults/${code}`, { key })
      expect(answer.body).toEqual({
        error: code,
        message: FAULTS[code].message,
        docs: `${PUBLIC_URL}/docs/errors#${code}`,
      })
      expect(answer.status).toBe(FAULTS[code].status)
      expect(answer.credits).toEqual(before.credits)
      expect(answer.headers.has("retry-after")).toBe(answer.status === 429 || answer.status === 503)
      statuses.add(answer.status)
    }
    expect([...statuses].sort()).toEqual([400, 401, 402, 403, 404, 405, 409, 413, 415, 429, 431, 500, 502, 503, 504])
  })
})
