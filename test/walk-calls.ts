import { test } from "bun:test"
import { trackApp } from "../src/tracking/apps.ts"
import { freshDatabase } from "./database.ts"
import { openService, PUBLIC_URL } from "./service.ts"

// Run by walk.test.ts: makes CALLS keyed reads, each with a key whose cached record has expired.

test("keyed reads succeed", async () => {
  const sql = await freshDatabase()
  const service = openService({ sql })
  const workspaceId = await service.workspace()
  const headers = { authorization: `Bearer ${await service.key(workspaceId)}` }
  const tracked = { workspaceId, iosId: "1437843273", countries: ["us"], keywords: ["journal"], origin: "own" }
  const app = await sql.begin((tx) => trackApp(tx, tracked))
  const clock = performance.now.bind(performance)
  for (let call = 0; call < Number(process.env.CALLS); call++) {
    performance.now = () => clock() + call * 1_000
    const request = new Request(`${PUBLIC_URL}/v1/apps/${app}/keywords?country=us`, { headers })
    const response = await service.app.fetch(request, "127.0.0.1")
    if (response.status !== 200) throw new Error(await response.text())
  }
}, 120_000)
