import { expect, test } from "bun:test"
import { catalog } from "../../src/catalog.ts"
import { freshDatabase } from "../database.ts"
import { openService, PUBLIC_URL } from "../service.ts"

test("the card of the MCP server names the endpoint, the sign-in and every tool of the catalog", async () => {
  const service = openService({ sql: await freshDatabase() })
  const cards = await Promise.all(
    ["/.well-known/mcp.json", "/.well-known/mcp/server-card.json"].map((path) =>
      service.app.fetch(new Request(`${PUBLIC_URL}${path}`), "192.0.2.1"),
    ),
  )
  const [card, same] = await Promise.all(cards.map((response) => response.text()))
  expect([cards[0]!.status, cards[0]!.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"])
  expect(cards[0]!.headers.get("access-control-allow-origin")).toBe("*")
  expect(same).toBe(card as string)
  const { transport, authentication, serverInfo, tools } = JSON.parse(card as string)
  expect(transport).toEqual({ type: "streamable-http", endpoint: `${PUBLIC_URL}/mcp` })
  expect([authentication.required, serverInfo.name]).toEqual([true, "appmeter"])
  expect(tools.map(({ name }: { name: string }) => name).sort()).toEqual(catalog.map(({ id }) => id).sort())
})
