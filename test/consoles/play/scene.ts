import { type AccountRow, addAccount, type Register } from "../../../src/consoles/register.ts"
import type { Sql } from "../../../src/database/types.ts"
import { sealer } from "../../alerts/delivery/scene.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import { reachOf } from "../scene.ts"
import { type MadePlayKey, type PlayStandIn, playStandIn } from "./stand-in.ts"

export const TEA_PACKAGE = "com.example.tea"

export interface PlayScene {
  sql: Sql
  service: Service
  standIn: PlayStandIn
  register: Register
  workspaceId: number
  appId: string
  clock: { now: Date }
  add(options?: { key?: MadePlayKey; part?: string }): Promise<AccountRow>
}

/** A workspace that tracks Tea Timer on Google Play, and a bucket with a month of its installs. */
export async function playScene(sql: Sql, now = new Date()): Promise<PlayScene> {
  const standIn = playStandIn()
  standIn.put(`stats/installs/installs_${TEA_PACKAGE}_202610_overview.csv`, "Date,Package Name\n")
  const clock = { now }
  const service = openService({ sql, now: () => clock.now })
  const workspaceId = await service.workspace()
  const tracked = { name: "Tea Timer", androidPkg: TEA_PACKAGE, countries: ["us"], keywords: ["tea"] }
  const appId = await trackOwn(sql, { workspaceId, ...tracked, origin: "own" })
  const register: Register = { sql, sealer, reach: reachOf(standIn.url) }
  const add: PlayScene["add"] = ({ key = standIn.key(), part = standIn.bucket } = {}) =>
    addAccount(register, workspaceId, { kind: "google-play-console", key: { serviceAccount: key.json }, part })
  return { sql, service, standIn, register, workspaceId, appId, clock, add }
}
