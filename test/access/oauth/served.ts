import type { Sql } from "../../../src/database/types.ts"
import type { SafeFetch } from "../../../src/outbound/safe-fetch.ts"
import { openService, type Service } from "../../service.ts"
import { agree, answerIn, ownerBrowser } from "./scene.ts"

export interface ServedService {
  service: Service
  /** Also its PUBLIC_URL. */
  url: string
  stop(): void
}

/** Serves a service on a loopback port, because clients compare the URL with its documents. */
export function serveAt(sql: Sql, fetch?: SafeFetch): ServedService {
  let service: Service
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, server) => service.app.fetch(request, server.requestIP(request)?.address ?? null),
  })
  const url = `http://127.0.0.1:${server.port}`
  service = openService({ sql, settings: { publicUrl: url }, ...(fetch && { fetch }) })
  return { service, url, stop: () => void server.stop(true) }
}

/** Opens the client's URL as the owner, approves, and returns the URL of the redirect. */
export async function consentOf(
  { service, url }: ServedService,
  workspaceId: number,
  address: URL,
  choices?: Parameters<typeof agree>[2],
): Promise<URL> {
  const browser = await ownerBrowser(service, workspaceId, { url })
  return answerIn(await agree(browser, await browser.open(`${address.pathname}${address.search}`), choices))
}
