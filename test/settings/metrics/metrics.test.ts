import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { createKey } from "../../../src/access/key-register.ts"
import { memoryLimiter } from "../../../src/access/limits/limiter.ts"
import { type Limits, openLimits } from "../../../src/access/limits/open.ts"
import { createWorkspace } from "../../../src/access/workspaces.ts"
import { type App, createApp } from "../../../src/app.ts"
import { catalog } from "../../../src/catalog.ts"
import type { Sql } from "../../../src/database/types.ts"
import { FAULTS } from "../../../src/lib/faults.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { createCalls } from "../../../src/settings/metrics/calls.ts"
import { exposed } from "../../../src/settings/metrics/text.ts"
import { freshDatabase } from "../../database.ts"
import { slow } from "../../long.ts"
import { sandboxAt } from "../../sandbox.ts"
import { checkedHeaders } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import { complaints, type Parsed, parsed } from "./lint.ts"

setDefaultTimeout(60_000)

/** The kinds of due rows in the schema. */
const DUE_KINDS = [
  .../due_kind_check.*/.exec(readFileSync("test/snapshots/schema.sql", "utf8"))![0].matchAll(/'(\w+)'/g),
].map(([, kind]) => kind as string)
const TOKEN = "a token of its own".replaceAll(" ", "-")
const TERM = "zwieback tides 4711"
const WORKSPACE = 913_570_246

let sql: Sql
let app: App
let key: string
let appId: string
const kind = process.env.DATABASE_URL ? ("postgres" as const) : ("embedded" as const)

interface Opened {
  token?: string
  metered?: boolean
  limits?: Limits
  writer?: { price?: { input: number; output: number } }
}

function opened(parts: Opened = {}): App {
  const { token, metered = true, writer } = parts
  const now = () => new Date()
  return createApp({
    sql,
    limits: parts.limits ?? { ...openLimits({ sql, log: silentLog, now }), rate: memoryLimiter(now) },
    sandbox: sandboxAt("http://127.0.0.1:8787"),
    settings: {
      publicUrl: "http://127.0.0.1:8787",
      trustedProxies: [],
      sandboxPerSecond: 1e6,
      requestDeadlineMs: 4_500,
      maxWaiting: 500,
      metricsToken: token,
    },
    log: silentLog,
    now,
    metered: metered ? { version: "1.2.3", database: { kind, connections: 10, writer } } : undefined,
  })
}

beforeAll(async () => {
  sql = await freshDatabase()
  await sql`select setval(pg_get_serial_sequence('workspace', 'id'), ${WORKSPACE}, false)`
  const overrides = { ratePerSecond: 1e6, credits: 1e6 }
  const { id: workspaceId } = await createWorkspace(sql, { name: "metered", plan: "enterprise", overrides })
  expect(workspaceId).toBe(WORKSPACE)
  key = (await createKey(sql, { workspace: "metered", kind: "live", name: "metered" }, randomBytes)).secret
  appId = await trackOwn(sql, { workspaceId, iosId: "1437843273", keywords: [TERM] })
  app = opened({ token: TOKEN })
})

const get = (path: string, headers: Record<string, string> = {}, target = app, method = "GET") =>
  target.fetch(new Request(`http://127.0.0.1:8787${path}`, { method, headers }), "127.0.0.1")
const bearing = (secret: string) => ({ authorization: `Bearer ${secret}` })
const post = (path: string, body: unknown, headers: Record<string, string>) =>
  app.fetch(
    new Request(`http://127.0.0.1:8787${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body: JSON.stringify(body),
    }),
    "127.0.0.1",
  )

async function scraped(target = app): Promise<Map<string, Parsed>> {
  const response = await target.metrics!(
    new Request("http://127.0.0.1:9187/metrics", { headers: bearing(TOKEN) }),
    "127.0.0.1",
  )
  checkedHeaders(response)
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ])
  const metrics = parsed(await response.text())
  expect(complaints(metrics)).toEqual([])
  return metrics
}

const figureOf = (metrics: Map<string, Parsed>, name: string, labels: Record<string, string> = {}) =>
  metrics.get(name)?.samples.find((sample) => Bun.deepEquals(sample.labels, labels))?.value

describe("access to metrics", () => {
  test("metrics are off by default: the path does not exist and nothing is counted", async () => {
    const bare = opened({ metered: false })
    const response = await get("/metrics", bearing(TOKEN), bare)
    expect([response.status, (await response.json()).error, bare.metrics]).toEqual([404, "unknown_endpoint", null])
  })

  test("without a token, metrics are only on their separate port", async () => {
    const open = opened()
    expect((await get("/metrics", {}, open)).status).toBe(404)
    const response = await open.metrics!(new Request("http://127.0.0.1:9187/metrics"), null)
    expect(response.status).toBe(200)
  })

  test.each([
    ["none", {}],
    ["another", bearing("a-token-of-its-owm")],
    ["a longer one", bearing(`${TOKEN}x`)],
    ["its beginning", bearing(TOKEN.slice(0, -1))],
    ["an empty one", { authorization: "Bearer " }],
    ["another scheme", { authorization: `Basic ${TOKEN}` }],
    ["it under another name", { "x-api-key": TOKEN }],
  ])("with a token, %s is refused on both ports", async (_, headers) => {
    const ownPort = await app.metrics!(new Request("http://127.0.0.1:9187/metrics", { headers }), null)
    for (const response of [await get("/metrics", headers), ownPort]) {
      expect([response.status, (await response.json()).error]).toEqual([401, "invalid_token"])
      expect(response.headers.get("www-authenticate")).toContain("Bearer")
      checkedHeaders(response)
    }
  })

  test("the token is accepted with any case of the scheme, and an API key is refused", async () => {
    expect((await get("/metrics", { authorization: `bearer ${TOKEN}` })).status).toBe(200)
    expect((await get("/metrics", bearing(key))).status).toBe(401)
    expect((await get("/metrics", bearing(TOKEN), app, "POST")).status).toBe(405)
    expect((await get(`/metrics?key=${key}`, bearing(TOKEN))).status).toBe(400)
  })

  test("the metrics port serves nothing else", async () => {
    const ask = (path: string) =>
      app.metrics!(new Request(`http://127.0.0.1:9187${path}`, { headers: bearing(TOKEN) }), null)
    for (const path of ["/", "/v1/apps", "/v1/sandbox/apps", "/readyz", "/metrics/"])
      expect((await ask(path)).status).toBe(404)
  })
})

describe("metrics", () => {
  test("metrics count calls by operation, surface and status, with durations, credits and refusals", async () => {
    const opening = opened()
    for (let i = 0; i < 3; i++) await get(`/v1/apps/${appId}/keywords`, bearing(key), opening)
    await get("/v1/apps/app_nowhere", bearing(key), opening)
    await get("/v1/apps", {}, opening)
    await get("/v1/sandbox/apps", {}, opening)
    await get("/livez", {}, opening)
    const metrics = await scraped(opening)
    const labels = { operation: "list_keyword_ranks", surface: "rest", status: "200" }
    expect(figureOf(metrics, "appmeter_calls_total", labels)).toBe(3)
    expect(figureOf(metrics, "appmeter_calls_total", { operation: "none", surface: "rest", status: "401" })).toBe(1)
    expect(figureOf(metrics, "appmeter_calls_total", { operation: "none", surface: "sandbox", status: "200" })).toBe(1)
    expect(figureOf(metrics, "appmeter_calls_total", { operation: "none", surface: "public", status: "200" })).toBe(1)
    expect(
      figureOf(metrics, "appmeter_credits_charged_total", { operation: "list_keyword_ranks", surface: "rest" }),
    ).toBe(3)
    expect(figureOf(metrics, "appmeter_refusals_total", { code: "not_found", surface: "rest" })).toBe(1)
    expect(figureOf(metrics, "appmeter_refusals_total", { code: "missing_api_key", surface: "rest" })).toBe(1)
    const times = metrics.get("appmeter_call_duration_seconds")!.samples
    expect(times.find(({ name, labels: l }) => name.endsWith("_count") && Bun.deepEquals(l, labels))?.value).toBe(3)
  })

  test("a call counts in the first bucket whose bound is at least its duration", () => {
    const calls = createCalls()
    for (const latencyMs of [0.4, 1, 1.1, 4_500, 30_000]) calls.count({ surface: "rest", status: 200, latencyMs })
    const [series] = calls.series()
    expect([series!.count, series!.within.slice(0, 2), series!.within[11]]).toEqual([5, [2, 1], 1])
    expect(series!.within.reduce((sum, n) => sum + n, 0)).toBe(4)
    expect(series!.sumSeconds).toBeCloseTo(34.5025, 6)
  })

  test("metrics include the process, the version, waiting calls and jobs by state", async () => {
    const metrics = await scraped()
    expect(figureOf(metrics, "appmeter_build_info", { version: "1.2.3" })).toBe(1)
    expect(figureOf(metrics, "process_resident_memory_bytes")).toBeGreaterThan(1e6)
    expect(Math.abs(Date.now() / 1_000 - figureOf(metrics, "process_start_time_seconds")!)).toBeLessThan(3_600)
    expect([
      figureOf(metrics, "appmeter_calls_waiting"),
      figureOf(metrics, "appmeter_database_work_unfinished"),
    ]).toEqual([0, 0])
    expect(metrics.get("appmeter_jobs")!.samples.map(({ labels, value }) => `${labels.state} ${value}`)).toEqual([
      "done 0",
      "failed 0",
      "queued 0",
      "running 0",
      "unknown 0",
    ])
    expect(figureOf(metrics, "appmeter_database_up")).toBe(1)
    const figure = kind === "embedded" ? "appmeter_database_size_bytes" : "appmeter_database_connections"
    expect(metrics.has(figure)).toBeTrue()
  })

  test("metrics include today's tokens of the language model, and their cost if a price is configured", async () => {
    await sql`
      insert into writer_day (day, input, output)
      values ((now() at time zone 'utc')::date, 2000000, 100000), ((now() at time zone 'utc')::date - 1, 7, 7)`
    const of = async (writer?: Opened["writer"]) => {
      const opening = opened({ token: TOKEN, ...(writer && { writer }) })
      const metrics = parsed(await (await get("/metrics", bearing(TOKEN), opening)).text())
      const tokens = (direction: string) => figureOf(metrics, "appmeter_writer_tokens_today", { direction })
      return [tokens("read"), tokens("written"), figureOf(metrics, "appmeter_writer_cents_today")]
    }
    expect(await of({ price: { input: 0.1, output: 0.5 } })).toEqual([2_000_000, 100_000, 25])
    expect(await of({})).toEqual([2_000_000, 100_000, undefined])
    expect(await of()).toEqual([undefined, undefined, undefined])
    await sql`delete from writer_day`
  })

  test("metrics include readings per source, due work and reader processes, and omit unknown values", async () => {
    await sql`
      insert into source_state (source, answered_at, failures)
      values ('apple-web-search', now() - interval '1 hour', 3), ('apple-hints', null, 1)`
    await sql`
      insert into source_hour (source, hour, answered, failed)
      select 'apple-web-search', date_trunc('hour', now()) - make_interval(hours => h), 10, 1
      from generate_series(0, 40) h`
    await sql`delete from due`
    await sql`
      insert into due (kind, platform, storefront, subject, priority, next_at)
      select 'search', 'ios', 'us', 'term ' || i, i % 3 + 1, now() - make_interval(mins => i)
      from generate_series(1, 90) i`
    await sql`
      insert into due (kind, platform, storefront, subject, next_at)
      values ('chart', 'ios', 'us', 'later', now() + interval '1 hour')`
    await sql`insert into instance_alert (kind, subject, detail) values ('parser', 'apple-hints', 'changed')`
    await sql`
      insert into reader (process, egress, reads, seen_at)
      values (gen_random_uuid(), 'here', '[]', now()), (gen_random_uuid(), 'gone', '[]', now() - interval '10 minutes')`
    const metrics = await scraped(opened())
    const source = "apple-web-search"
    const readings = (outcome: string) => figureOf(metrics, "appmeter_source_readings_last_day", { source, outcome })
    expect([readings("answered"), readings("failed")]).toEqual([240, 24])
    expect(figureOf(metrics, "appmeter_source_failures_in_a_row", { source })).toBe(3)
    const age = Date.now() / 1_000 - figureOf(metrics, "appmeter_source_answered_timestamp_seconds", { source })!
    expect(Math.abs(age - 3_600)).toBeLessThan(600)
    expect(figureOf(metrics, "appmeter_source_answered_timestamp_seconds", { source: "apple-hints" })).toBeUndefined()
    const [search, chart] = ["search", "chart"].map((kind) => ({ kind, platform: "ios" }))
    expect([figureOf(metrics, "appmeter_due", search), figureOf(metrics, "appmeter_due", chart)]).toEqual([90, 0])
    expect(figureOf(metrics, "appmeter_due_oldest_seconds", search)! / 60).toBeCloseTo(90, 0)
    expect(figureOf(metrics, "appmeter_due_oldest_seconds", chart)).toBe(0)
    expect(figureOf(metrics, "appmeter_source_alerts_open", { kind: "parser" })).toBe(1)
    expect(figureOf(metrics, "appmeter_readers")).toBe(1)
  })

  slow("metrics count the calls that wait or give up while the database does not answer", async () => {
    const { promise: never, resolve } = Promise.withResolvers<never[]>()
    const real = sql
    const silent = new Proxy(sql, { apply: () => never })
    sql = silent
    const stuck = opened()
    sql = real
    const calls = Array.from({ length: 3 }, () => get("/v1/apps", bearing(key), stuck))
    await Bun.sleep(20)
    const during = parsed(await (await stuck.metrics!(new Request("http://127.0.0.1:9187/metrics"), null)).text())
    expect([figureOf(during, "appmeter_calls_waiting"), figureOf(during, "appmeter_database_up")]).toEqual([3, 0])
    expect(during.has("appmeter_jobs")).toBeFalse()
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([503, 503, 503])
    const after = parsed(await (await stuck.metrics!(new Request("http://127.0.0.1:9187/metrics"), null)).text())
    expect([figureOf(after, "appmeter_calls_waiting"), figureOf(after, "appmeter_database_work_unfinished")]).toEqual([
      0, 3,
    ])
    resolve([])
  })

  test("metrics count the calls that were limited without the rate-limit store because it did not answer", async () => {
    const rate = memoryLimiter()
    const degraded: Limits = {
      ...openLimits({ sql, log: silentLog }),
      store: "redis",
      rate: { take: async (subject, perSecond) => ({ ...(await rate.take(subject, perSecond)), degraded: true }) },
    }
    const opening = opened({ limits: degraded })
    await get("/v1/apps", bearing(key), opening)
    expect(figureOf(await scraped(opening), "appmeter_limits_fallbacks_total")).toBe(1)
    expect(figureOf(await scraped(), "appmeter_limits_fallbacks_total")).toBe(0)
  })

  test("quotes, backslashes and line ends in the help and labels of a metric are escaped", () => {
    const odd = 'a "b" \\ c\nd'
    const text = exposed([{ name: "x_total", help: odd, type: "counter", samples: [{ labels: { odd }, value: 1 }] }])
    expect(parsed(text).get("x_total")?.samples).toEqual([{ name: "x_total", labels: { odd }, value: 1 }])
    expect(text.split("\n")).toHaveLength(4)
  })
})

describe("the test parser", () => {
  test.each([
    ["no end of line", "# HELP a b\n# TYPE a gauge\na 1"],
    ["a series twice", '# HELP a b\n# TYPE a gauge\na{x="1"} 1\na{x="1"} 2\n'],
    ["HELP twice", "# HELP a b\n# TYPE a gauge\na 1\n# HELP a b\n"],
    ["a stray series", "# HELP a b\n# TYPE a gauge\nc 1\n"],
    ["a raw quote", '# HELP a b\n# TYPE a gauge\na{x="""} 1\n'],
    ["no number", "# HELP a b\n# TYPE a gauge\na x\n"],
  ])("the test parser refuses %s", (_, text) => expect(() => parsed(text)).toThrow())

  test("the test parser reports wrong names and units", () => {
    const wrong =
      "# HELP calls_ms b\n# TYPE calls_ms counter\ncalls_ms 1\n# HELP up_total c\n# TYPE up_total " +
      'gauge\nup_total{le="1"} 1\n'
    expect(complaints(parsed(wrong))).toHaveLength(4)
  })
})

slow("after 2,000 random calls, metrics contain no key, term, app, workspace or other caller input", async () => {
  const words = [
    "svc_live_canary",
    TERM,
    appId,
    String(WORKSPACE),
    "canary",
    "%00",
    "é",
    "apps",
    "keywords",
    "../../..",
    '"}\n',
  ]
  let seed = 20_251_121
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % below
  }
  const word = () => words[next(words.length)]!
  const operations = catalog.map(({ path }) => path.replace(":appId", appId))
  for (let i = 0; i < 2_000; i++) {
    const secret = [key, "svc_live_canary", ""][next(3)]!
    const headers: Record<string, string> = secret ? bearing(secret) : {}
    const path = next(2)
      ? `/v1${operations[next(operations.length)]}`
      : `/v1/${encodeURIComponent(word())}/${encodeURIComponent(word())}`
    const query = next(2) ? `?${encodeURIComponent(word())}=${encodeURIComponent(word())}` : ""
    const method = ["GET", "GET", "POST", "DELETE"][next(4)]!
    if (next(5) > 0) await get(`${next(6) ? "" : "/v1/sandbox"}${path}${query}`, headers, app, method)
    else {
      const call = {
        jsonrpc: "2.0",
        id: i,
        method: ["tools/call", "tools/list", word()][next(3)],
        params: { name: word() },
      }
      await post(
        `/mcp${query}`,
        next(3) ? call : { ...call, params: { name: "search", arguments: { query: word() } } },
        headers,
      )
    }
  }
  const metrics = await scraped()
  const allowed: Record<string, (value: string) => boolean> = {
    operation: (value) => value === "none" || catalog.some(({ id }) => id === value),
    surface: (value) => ["rest", "tools", "sandbox", "public"].includes(value),
    status: (value) => /^[1-5]\d\d$/.test(value),
    code: (value) => value in FAULTS || /^-32\d{3}$/.test(value),
    state: (value) => /^(queued|running|done|failed|unknown|active|idle|idle_in_transaction)$/.test(value),
    le: (value) => value === "+Inf" || Number(value) <= 25,
    version: (value) => value === "1.2.3",
    source: (value) => ["apple-web-search", "apple-hints"].includes(value),
    outcome: (value) => ["answered", "failed"].includes(value),
    kind: (value) => value === "parser" || DUE_KINDS.includes(value),
    platform: (value) => ["ios", "android"].includes(value),
  }
  const labels = [...metrics.values()].flatMap(({ samples }) =>
    samples.flatMap((sample) => Object.entries(sample.labels)),
  )
  expect(labels.filter(([name, value]) => !allowed[name]?.(value))).toEqual([])
  expect(figureOf(metrics, "appmeter_internal_errors_total")).toBe(0)
  const total = metrics.get("appmeter_calls_total")!.samples.reduce((sum, { value }) => sum + value, 0)
  expect(total).toBeGreaterThanOrEqual(2_000)
  const response = await get("/metrics", bearing(TOKEN))
  const text = await response.text()
  for (const never of [key, TOKEN, TERM, "zwieback", appId, String(WORKSPACE), "canary", "metered"])
    expect(text).not.toContain(never)
})
