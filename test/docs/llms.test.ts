import { beforeAll, describe, expect, test } from "bun:test"
import { actions, catalog } from "../../src/catalog.ts"
import { llmsText } from "../../src/docs/llms.ts"
import { freshDatabase } from "../database.ts"
import { slow } from "../long.ts"
import { catalogWithSamples } from "../samples.ts"
import { openService, PUBLIC_URL, type Service } from "../service.ts"

let service: Service
let text: string

beforeAll(async () => {
  service = openService({ sql: await freshDatabase() })
  text = (await service.call("/llms.txt")).text
})

describe("the guide for assistants", () => {
  test("the guide has one line for every operation and every action, with its price", () => {
    const lines = text.split("\n").filter((line) => line.startsWith("- "))
    for (const { id, method, path, summary } of catalog) {
      const matching = lines.filter((line) => line.includes(` (${id}): `))
      expect(matching).toHaveLength(1)
      expect(matching[0]).toStartWith(`- ${method} ${path.replaceAll(/:(\w+)/g, "{$1}")} (${id}): ${summary} `)
      expect(matching[0]).toMatch(/ (Free of charge|\d+ credits?|\d+ to \d+ credits)( \(.*\))?\.$/)
    }
    for (const { name, summary } of actions)
      expect(lines.filter((line) => line.startsWith(`- ${name}: ${summary}`))).toHaveLength(1)
    expect(text).not.toMatch(/undefined|:\w+Id/)
    const other = llmsText(catalogWithSamples, { publicUrl: PUBLIC_URL, actions: [] })
    expect(other).toContain(
      "- GET /hive/explored (explorer_sample): A call that only Explorer opens. 5 to 50 credits (5 a row).",
    )
    expect(other).not.toContain("add_keywords")
  })

  slow("the guide names only operations and actions that exist", async () => {
    const urls = [...new Set(text.match(/http:[^\s,;)]+/g))].map((url) => new URL(url))
    expect(urls.map(({ pathname }) => pathname)).toEqual(
      expect.arrayContaining(["/v1/sandbox/apps", "/mcp", "/docs", "/docs/errors", "/v1/openapi.json"]),
    )
    for (const { origin, pathname } of urls) {
      expect(origin).toBe(PUBLIC_URL)
      if (pathname === "/v1" || pathname === "/v1/sandbox" || pathname === "/mcp") continue
      expect([pathname, (await service.call(pathname)).status]).toEqual([pathname, 200])
    }
  })

  test("the guide is public plain text at both of its addresses and contains no markup", async () => {
    const [root, other] = [await service.call("/llms.txt"), await service.call("/docs/llms.txt")]
    expect(other.text).toBe(root.text)
    expect(root.headers.get("content-type")).toBe("text/plain; charset=utf-8")
    expect(root.headers.get("access-control-allow-origin")).toBe("*")
    expect(root.text).toStartWith("# Appmeter\n\n> ")
    expect(root.text.replaceAll("<key>", "")).not.toMatch(/<\w/)
    const conditional = await service.call("/llms.txt", {
      headers: { "if-none-match": root.headers.get("etag") as string },
    })
    expect([conditional.status, conditional.text]).toEqual([304, ""])
  })
})
