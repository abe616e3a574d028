// bun test/bench/app-page.ts — milliseconds and bytes of an app's first page with 1,000 keywords and 90 days, beside the two
// reads that it asks. DATABASE_URL measures PostgreSQL, without it the embedded database.

import { openHouse, PUBLIC_URL } from "../house.ts"
import { ownerOf } from "../pages/app-scene.ts"
import { NOW } from "./years-fill.ts"
import { worldOf } from "./years-world.ts"

const CALLS = 40

const { scratch, workspace, apps } = await worldOf(process.env.DATABASE_URL, {
  apps: 3,
  keywords: 20,
  most: 1_000,
  days: 90,
})
const house = openHouse({ sql: scratch.sql, now: () => NOW })
await scratch.sql`update workspace set plan = 'enterprise' where id = ${workspace}`
const { cookies } = await ownerOf(house, workspace)
const cookie = [...cookies].map((pair) => pair.join("=")).join("; ")
const [{ name }] = await scratch.sql<[{ name: string }]>`select name from workspace where id = ${workspace}`
const authorization = `Bearer ${await house.key(workspace, { workspace: name })}`

const page = await timed(`/app/apps/${apps[0]}`, { cookie, "accept-encoding": "zstd" })
const ranks = await timed(`/v1/apps/${apps[0]}/keywords`, { authorization })
const history = await timed(`/v1/apps/${apps[0]}/history?days=30`, { authorization })
console.log(
  `page: ${page.ms} ms, ${page.kb} KB compressed; of its two reads over REST: ${(page.msRaw / (ranks.msRaw + history.msRaw)).toFixed(2)} (${ranks.ms} and ${history.ms} ms)`,
)
await scratch.remove()
process.exit(0)

/** The median of some calls, after some that warm up. */
async function timed(path: string, headers: Record<string, string>) {
  const times: number[] = []
  let bytes = 0
  for (let call = 0; call < CALLS + 10; call++) {
    const began = performance.now()
    const response = await house.app.fetch(new Request(`${PUBLIC_URL}${path}`, { headers }), "127.0.0.1")
    bytes = (await response.bytes()).length
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`)
    if (call >= 10) times.push(performance.now() - began)
  }
  const msRaw = times.sort((a, b) => a - b)[Math.floor(CALLS / 2)] as number
  return { msRaw, ms: msRaw.toFixed(1), kb: (bytes / 1_000).toFixed(0) }
}
