import { beforeAll, describe, expect, test } from "bun:test"
import { catalog } from "../../src/catalog.ts"
import { TOOLSETS } from "../../src/core/operation.ts"
import { toolsPart } from "../../src/docs/tools.ts"
import { LEGACY, MODERN } from "../../src/http/tools/eras.ts"
import { DAILY_TOOLS } from "../../src/lib/daily-tools.ts"
import { freshDatabase } from "../database.ts"
import { readMarkup } from "../pages/markup.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"

const { text: page } = toolsPart(catalog, PUBLIC_URL)

let service: Service
let key: string

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
  key = await service.key(await service.workspace({ plan: "free" }))
})

describe("the tools in the reference", () => {
  test("the reference names supported protocol versions, with the newest legacy and modern ones", () => {
    const named = page.match(/\d{4}-\d\d-\d\d/g) ?? []
    expect(named).toHaveLength(3)
    expect([...LEGACY, ...MODERN]).toEqual(expect.arrayContaining(named))
    expect(named).toEqual(expect.arrayContaining([LEGACY[0] as string, MODERN[0] as string]))
  })

  test("the reference lists every tool by toolset, and each toolset works on the Free plan", async () => {
    const lines = [...page.matchAll(/<li><code>(\w+)<\/code> (.*)<\/li>/g)].map(([, set, ids]) => [set, ids])
    const empty = /without a tool yet: ([^.]*)\./.exec(page)?.[1]?.split(", ") ?? []
    expect([...lines.map(([set]) => set), ...empty].sort()).toEqual([...TOOLSETS].sort())
    for (const [set, ids] of lines) expect((await toolNames(`?tools=${set}`)).sort()).toEqual(ids!.split(", ").sort())
    for (const set of empty) expect(await toolNames(`?tools=${set}`)).toEqual([])
    expect(lines.flatMap(([, ids]) => ids!.split(", ")).sort()).toEqual(catalog.map(({ id }) => id).sort())
  })

  test("the configuration on the page has a URL and a header that an assistant can use unchanged", async () => {
    const json = /<pre>(\{[^<]*\})<\/pre>/
      .exec(page)?.[1]
      ?.replaceAll("&quot;", '"')
      .replaceAll(/&lt;key&gt;/g, key)
    const { appmeter } = JSON.parse(json!).mcpServers
    expect(appmeter.url).toBe(`${PUBLIC_URL}/mcp?tools=daily`)
    expect(await toolNames("?tools=daily", appmeter.headers)).toHaveLength(DAILY_TOOLS.length)
    expect(await toolNames("", appmeter.headers)).toHaveLength(catalog.length)
  })

  test("toolsets limit the tools as the page shows, and without writes no write tool can be called", async () => {
    const query = /\/mcp(\?tools=keywords[^<]*)</.exec(page)?.[1] as string
    const names = await toolNames(query)
    expect(names).toContain("list_keyword_ranks")
    expect(names).not.toContain("preview_action")
    for (const name of ["preview_action", "confirm_action"])
      expect(await rpc(query, "tools/call", { name, arguments: {} })).toMatchObject({ error: { code: -32602 } })
  })

  test("the part about tools is well-formed", () => {
    const { unbalanced, bare } = readMarkup(page)
    expect([unbalanced, bare]).toEqual([[], []])
    expect(page).not.toContain("undefined")
  })
})

async function toolNames(query: string, headers?: Record<string, string>): Promise<string[]> {
  const { result } = await rpc(query, "tools/list", {}, headers)
  return result.tools.map(({ name }: { name: string }) => name)
}

async function rpc(query: string, method: string, params: object, headers?: Record<string, string>) {
  const request = new Request(`${PUBLIC_URL}/mcp${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(headers ?? { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  })
  return await (await service.app.fetch(request, "127.0.0.1")).json()
}
