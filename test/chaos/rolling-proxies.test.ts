import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { removeFolders } from "../commands/child.ts"
import { hasProgram, startProxy, stopProxies } from "../commands/proxy-process.ts"
import { slowness } from "../unit.ts"
import { someWriter } from "../writes/writer.ts"
import { cannotRun, fleetOf } from "./fleet.ts"

setDefaultTimeout(300_000)
afterAll(stopProxies)
afterAll(removeFolders)

const CALLERS = 4
/** The pause of a caller between two calls. */
const PAUSE_MS = 20
/** Three times the interval of the health checks in the printed files. */
const DRAIN_MS = 3_000

describe.each(["caddy", "haproxy"] as const)("%s", (proxy) => {
  test.skipIf(cannotRun || !hasProgram(proxy))(
    "postgres: three servers behind the printed proxy configuration are restarted in turn under load and fail no call",
    async () => {
      const busy = await slowness()
      const env = { DRAIN_MS: String(Math.ceil(DRAIN_MS * busy)), TRUSTED_PROXIES: "127.0.0.1" }
      await using fleet = await fleetOf(3, `rolling-${proxy}`, env)
      const { key } = await someWriter(fleet.service)
      const proxied = await startProxy(
        proxy,
        fleet.servers.map(({ url }) => new URL(url).host),
      )
      // waits for the first health checks
      await Bun.sleep(1_500 * busy)
      const load = callersOf(`${proxied.url}/v1/apps`, key)
      for (const server of [...fleet.servers]) {
        server.kill()
        expect(await server.exited).toBe(0)
        await fleet.start({ PORT: new URL(server.url).port })
        await Bun.sleep(2_500 * busy)
      }
      const statuses = await load.end()
      await proxied.stop()
      console.log(`${proxy}: ${statuses.length} calls`)
      expect(statuses.filter((status) => status !== 200)).toEqual([])
      expect(statuses.length).toBeGreaterThan(100)
    },
  )
})

/**
 * Starts several callers that call one after another. `end` returns each status, or the error of a call without one.
 */
function callersOf(url: string, key: string): { end(): Promise<(number | string)[]> } {
  const statuses: (number | string)[] = []
  let isOver = false
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isOver) {
      const answer = fetch(url, { headers: { authorization: `Bearer ${key}` } })
      statuses.push(await answer.then(({ status }) => status, String))
      await Bun.sleep(PAUSE_MS)
    }
  })
  return {
    async end() {
      isOver = true
      await Promise.all(callers)
      return statuses
    },
  }
}
