import { beforeAll, describe, expect, test } from "bun:test"
import { catalog } from "../../src/catalog.ts"
import { isConditional } from "../../src/core/operation.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { NOW, reading } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"
import { trackOwn } from "../world/tracked.ts"

let service: Service
let workspace: number
let key: string
let app: string

beforeAll(async () => {
  service = openService({ sql: await freshDatabase(), now: () => NOW })
  workspace = await service.workspace({ plan: "pro" })
  key = await service.key(workspace)
  app = await tracked("10001")
})

const tracked = (iosId: string) => trackOwn(service.sql, { workspaceId: workspace, iosId, keywords: ["tea", "mate"] })

/** Returns the workspace's spent credits, from its account and from its ledger. */
async function spent() {
  const [row] = await service.sql<{ used: number; charges: number }[]>`
    select a.used, (select count(*)::int from ledger l where l.workspace_id = a.workspace_id) as charges
    from account a
    where a.workspace_id = ${workspace}`
  return row!
}

async function callAndCharge(path: string, etag?: string, method = "GET") {
  const before = await spent()
  const answer = await service.call(path, {
    key,
    method,
    ...(etag !== undefined && { headers: { "if-none-match": etag } }),
  })
  const after = await spent()
  const { status, text, headers, credits } = answer
  return {
    status,
    text,
    headers,
    credits,
    etag: headers.get("etag") as string,
    paid: after.used - before.used,
    charges: after.charges - before.charges,
  }
}

describe("a keyed read", () => {
  test("a read has a weak ETag, and a call that sends this ETag gets 304 free of charge", async () => {
    for (const path of ["/v1/apps", `/v1/apps/${app}`, `/v1/apps/${app}/history`, "/v1/alerts", "/v1/search?q=tea"]) {
      const first = await callAndCharge(path)
      expect([path, first.status, first.paid, first.charges]).toEqual([path, 200, 1, 1])
      expect(first.etag).toMatch(/^W\/"[0-9a-f]{32}"$/)
      const repeated = await callAndCharge(path, first.etag)
      expect([path, repeated.status, repeated.text, repeated.paid, repeated.charges]).toEqual([path, 304, "", 0, 0])
      expect([repeated.etag, repeated.headers.get("cache-control")]).toEqual([first.etag, "private, no-store"])
      expect(repeated.credits).toEqual(first.credits)
      expect(repeated.headers.get("ratelimit")).not.toBeNull()
      expect(repeated.headers.get("vary")).toEndWith("accept-encoding")
    }
  })

  test("the ETag of another workspace, app or query does not match, and the read is charged", async () => {
    const other = await tracked("10002")
    const { etag } = await callAndCharge(`/v1/apps/${app}`)
    const answer = await callAndCharge(`/v1/apps/${other}`, etag)
    expect([answer.status, answer.paid]).toEqual([200, 1])
  })

  test("a changed reading changes the ETag, and a read with the old ETag is charged", async () => {
    const path = `/v1/apps/${app}/keywords`
    const before = await callAndCharge(path)
    expect((await callAndCharge(path, before.etag)).status).toBe(304)
    await record(service.sql, [reading("tea", "2025-11-20T10:00:00Z", [10002, 10001])], () => NOW)
    const after = await callAndCharge(path, before.etag)
    expect([after.status, after.paid, after.charges]).toEqual([200, 1, 1])
    expect(after.etag).not.toBe(before.etag)
    expect(JSON.parse(after.text).keywords).toMatchObject([{ term: "tea", rank: 2 }, { measured: false }])
    expect((await callAndCharge(path, `"other", ${before.etag}, ${after.etag}`)).status).toBe(304)
  })

  test("If-None-Match accepts weak and strong tags, lists and *", async () => {
    const { etag } = await callAndCharge("/v1/apps")
    for (const header of [etag, etag.slice(2), `"a", ${etag}`, ` * `, `${etag} , "b"`])
      expect([header, (await callAndCharge("/v1/apps", header)).status]).toEqual([header, 304])
    for (const header of ["", '"a"', "W/", etag.replaceAll('"', ""), etag.slice(0, -2)])
      expect([header, (await callAndCharge("/v1/apps", header)).paid]).toEqual([header, 1])
  })

  test("a refused read with a matching If-None-Match is still refused, has no ETag and costs nothing", async () => {
    for (const [path, status] of [
      ["/v1/apps/none", 404],
      ["/v1/apps?colour=red", 400],
      ["/v1/nowhere", 404],
    ] as const) {
      const refused = await callAndCharge(path, "*")
      expect([path, refused.status, refused.etag, refused.paid]).toEqual([path, status, null as never, 0])
    }
    const poor = await service.workspace({ plan: "pro", overrides: { credits: 0, ratePerSecond: 100 } })
    const { status } = await service.call("/v1/apps", {
      key: await service.key(poor),
      headers: { "if-none-match": "*" },
    })
    expect(status).toBe(402)
    const keyless = await service.call("/v1/apps", { headers: { "if-none-match": "*" } })
    expect(keyless.status).toBe(401)
  })

  slow("100 simultaneous reads with a matching ETag are free, and the ledger is exact", async () => {
    const { etag } = await callAndCharge("/v1/apps")
    const before = await spent()
    const options = (i: number) => (i % 2 === 0 ? { headers: { "if-none-match": etag } } : {})
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => service.call("/v1/apps", { key, ...options(i) })),
    )
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? 304 : 200)),
    )
    const after = await spent()
    expect([after.used - before.used, after.charges - before.charges]).toEqual([50, 50])
  })

  test("a read answered with 304 is logged with its status and without cost", async () => {
    const { etag } = await callAndCharge("/v1/apps")
    service.logged.length = 0
    await callAndCharge("/v1/apps", etag)
    const line = JSON.parse(service.logged.find((text) => text.includes('"call"')) as string)
    expect(line).toMatchObject({ operation: "list_apps", status: 304, cost: 0 })
  })
})

test("an operation that waits, spends or writes has no ETag", async () => {
  // Hive operations are left out, because nearly all of them read data that nobody tracks
  const unconditional = catalog.filter((operation) => !isConditional(operation) && !operation.hive).map(({ id }) => id)
  expect(unconditional.sort()).toEqual([
    "confirm_action",
    "draft_listing",
    "draft_review_reply",
    "get_rival",
    "get_rival_ad_networks",
    "get_rival_market",
    "get_screenshot_text",
    "get_storefront_audit",
    "localize_listing",
    "preview_action",
    "start_ai_check",
    "suggest_keywords",
    "summarize_reviews",
    "validate_listing",
  ])
  const body = { action: "add_keywords", args: { appId: app, keywords: ["tides"] } }
  const previewed = await service.call("/v1/actions", { key, method: "POST", body, headers: { "if-none-match": "*" } })
  expect([previewed.status, previewed.headers.get("etag")]).toEqual([200, null])
})

test("a test key gets the sample's ETag, and 304", async () => {
  const testKey = await service.key(workspace, { kind: "test" })
  const etag = (await service.call("/v1/apps", { key: testKey })).headers.get("etag") as string
  expect(etag).toMatch(/^W\/"[0-9a-f]{32}"$/)
  const repeated = await service.call("/v1/apps", { key: testKey, headers: { "if-none-match": etag } })
  expect([repeated.status, repeated.text, repeated.headers.get("etag")]).toEqual([304, "", etag])
})

test("a tool call ignores If-None-Match", async () => {
  const headers = {
    "if-none-match": "*",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  }
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_apps", arguments: {} } }
  const init = { method: "POST", body: JSON.stringify(body), headers: { ...headers, authorization: `Bearer ${key}` } }
  const answer = await service.app.fetch(new Request(`${PUBLIC_URL}/mcp`, init), null)
  expect([answer.status, answer.headers.get("etag"), (await answer.json()).result.isError ?? false]).toEqual([
    200,
    null,
    false,
  ])
})
