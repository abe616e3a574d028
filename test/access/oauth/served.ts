import type { Sql } from "../../../src/database/types.ts"
import type { SafeFetch } from "../../../src/outbound/safe-fetch.ts"
import { type House, openHouse } from "../../house.ts"
import { agree, answerIn, ownerBrowser } from "./scene.ts"

export interface ServedHouse {
  house: House
  /** Which is its PUBLIC_URL as well. */
  url: string
  stop(): void
}

/** A house on a loopback port whose address clients compare with what its documents say. */
export function serveAt(sql: Sql, fetch?: SafeFetch): ServedHouse {
  let house: House
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, server) => house.app.fetch(request, server.requestIP(request)?.address ?? null),
  })
  const url = `http://127.0.0.1:${server.port}`
  house = openHouse({ sql, settings: { publicUrl: url }, ...(fetch && { fetch }) })
  return { house, url, stop: () => void server.stop(true) }
}

/** The owner at a browser: opens what a client sends them to, agrees, and gives the address they are led back to. */
export async function consentOf(
  { house, url }: ServedHouse,
  workspaceId: number,
  address: URL,
  more?: Parameters<typeof agree>[2],
): Promise<URL> {
  const browser = await ownerBrowser(house, workspaceId, { url })
  return answerIn(await agree(browser, await browser.open(`${address.pathname}${address.search}`), more))
}
