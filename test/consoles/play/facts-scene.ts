import { parsePlayReport, playObservations } from "../../../src/consoles/sources/play/reports.ts"
import { changedReports } from "../../../src/consoles/store/reports.ts"
import type { Sql } from "../../../src/database/types.ts"
import { record } from "../../record.ts"
import { openService } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

export const CONSOLE = "ac_0123456789abcdef02"

interface PlayScene {
  app: string
  now: Date
  iosId?: string
  countries?: string[]
}

/** A workspace with an Android app whose console is connected, at a fixed time. */
export async function playFacts(sql: Sql, { app, now, iosId, countries = ["us"] }: PlayScene) {
  const service = openService({ sql, now: () => now })
  const workspaceId = await service.workspace()
  const ids = { androidPkg: app, ...(iosId && { iosId }) }
  const appId = await trackOwn(sql, { workspaceId, name: "Tea", ...ids, countries, origin: "own" })
  await sql`
    insert into connected_account (id, workspace_id, kind, shown, part, sealed, next_at, state, created_at)
    values (${CONSOLE}, ${workspaceId}, 'google-play-console', 'key …1', 'pubsite_prod_rev_01234567890', 'v1.a.b.c',
      null, 'ok', '2019-01-01')`
  await sql`
    insert into account_app (account_id, outside_id, sku, name, bundle_id)
    values (${CONSOLE}, ${app}, ${app}, ${app}, ${app})`
  const key = await service.key(workspaceId)
  let generation = 0
  return {
    service,
    key,
    appId,
    workspaceId,
    call: (path: string) => service.call(`/v1/apps/${appId}/${path}`, { key }),
    /** Stores a file in the same way as a read of the account. */
    async store(name: string, text: string, updated: string) {
      const parsed = await parsePlayReport({ name, generation: String(++generation), updated, text })
      if (parsed.problem !== null) throw new Error(parsed.problem)
      const provenance = { seenAt: new Date(updated), sha256: new Uint8Array(32).fill(generation) }
      const observations = await changedReports(sql, playObservations(parsed, CONSOLE, provenance))
      const { refused } = await record(sql, observations, () => now)
      if (refused.length > 0) throw new Error(refused[0]!.problem.message)
    },
  }
}
