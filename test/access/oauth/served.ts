import type { Sql } from "../../../src/database/types.ts"
import type { SafeFetch } from "../../../src/outbound/safe-fetch.ts"
import { type House, openHouse } from "../../house.ts"
import { agree, answerIn, ownerBrowser } from "./scene.ts"

export interface ServedHouse {
  house: House
  /** Also its PUBLIC_URL. */
  url: string
  stop(): void
}

/** Serves a house on a loopback port, because clients compare the URL with its documents. */
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

/** Opens the client's URL as the owner, approves, and returns the URL of the redirect. */
export async function consentOf(
  { house, url }: ServedHouse,
  workspaceId: number,
  address: URL,
  more?: Parameters<typeof agree>[2],
): Promise<URL> {
  const browser = await ownerBrowser(house, workspaceId, { url })
  return answerIn(await agree(browser, await browser.open(`${address.pathname}${address.search}`), more))
}
