import { describe, expect, setDefaultTimeout } from "bun:test"
import { freshDatabase } from "../database.ts"
import { afterSlow, beforeSlow, slow } from "../long.ts"
import { chromiumBinary, openTab, type Tab } from "../pages/browser.ts"
import { openService } from "../service.ts"

setDefaultTimeout(120_000)

const binary = chromiumBinary()

/** Returns what a page can read of a call with a key: status and headers, or that the browser blocked it. */
const CALL = `(async (url, init) => {
  try {
    const answer = await fetch(url, init)
    const { headers } = answer
    const read = (name) => headers.get(name)
    return {
      status: answer.status,
      body: await answer.text(),
      used: read("x-credits-used"),
      rate: read("ratelimit"),
      etag: read("etag"),
    }
  } catch (error) {
    return { refused: error.name }
  }
})`

describe.skipIf(binary === null)("a page of another origin, in a browser", () => {
  let page: ReturnType<typeof Bun.serve>
  let open: ReturnType<typeof Bun.serve>
  let closed: ReturnType<typeof Bun.serve>
  let tab: Tab
  let key: string

  beforeSlow(async () => {
    const sql = await freshDatabase()
    const html = { headers: { "content-type": "text/html" } }
    page = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("<title>a dashboard</title>", html) })
    const served = (corsOrigins: string[]) => {
      const service = openService({ sql, settings: { corsOrigins } })
      const server = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        fetch: (request) => service.app.fetch(request, "127.0.0.1"),
      })
      return { service, server }
    }
    const named = served([page.url.origin])
    open = named.server
    closed = served([]).server
    key = await named.service.key(await named.service.workspace())
    tab = await openTab(binary as string)
    await tab.open(page.url.href)
  })
  afterSlow(async () => {
    await tab?.close()
    for (const server of [page, open, closed]) await server?.stop(true)
  })

  const called = (url: string, init: object) =>
    tab.value<Record<string, unknown>>(`${CALL}(${JSON.stringify(url)}, ${JSON.stringify(init)})`)
  const withKey = (headers = {}) => ({ headers: { authorization: `Bearer ${key}`, ...headers } })

  slow("a page of an allowed origin reads answers, credits and rate limits", async () => {
    const first = await called(`${open.url.origin}/v1/apps`, withKey())
    expect(first).toMatchObject({
      status: 200,
      body: '{"apps":[]}',
      used: "1",
      rate: expect.stringContaining("per-second"),
    })
    const repeated = await called(`${open.url.origin}/v1/apps`, withKey({ "if-none-match": first.etag }))
    expect(repeated).toMatchObject({ status: 304, used: "1" })
    expect(await called(`${open.url.origin}/v1/apps/none`, withKey())).toMatchObject({ status: 404 })
    expect(await called(`${open.url.origin}/v1/apps`, {})).toMatchObject({ status: 401 })
  })

  slow("a page of an allowed origin calls tools", async () => {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "whoami", arguments: {} },
    })
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
    }
    const init = { method: "POST", body, ...withKey(headers) }
    expect(await called(`${open.url.origin}/mcp`, init)).toMatchObject({
      status: 200,
      body: expect.stringContaining("result"),
    })
    expect(await called(`${closed.url.origin}/mcp`, init)).toEqual({ refused: "TypeError" })
  })

  slow("a page of another origin is blocked, but reads the sandbox", async () => {
    expect(await called(`${closed.url.origin}/v1/apps`, withKey())).toEqual({ refused: "TypeError" })
    expect(await called(`${closed.url.origin}/v1/sandbox/apps`, {})).toMatchObject({ status: 200, used: "0" })
  })
})
