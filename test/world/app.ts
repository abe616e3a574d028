import type { Sql } from "../../src/database/types.ts"
import { type NewApp, trackApp } from "../../src/tracking/apps.ts"

let lastStoreId = 3_000_000_000

/** Returns an App Store id that no other test of this process uses. */
export const newStoreId = (): string => String(++lastStoreId)

/** Tracks an app in the United States without keywords, unless `app` says otherwise. Returns its id. */
export function trackOwn(sql: Sql, app: Partial<NewApp> & { workspaceId: number }): Promise<string> {
  return sql.begin((tx) => trackApp(tx, { countries: ["us"], keywords: [], origin: "own", ...app }))
}
