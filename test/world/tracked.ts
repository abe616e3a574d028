import type { Sql } from "../../src/database/types.ts"
import { type NewApp, trackApp } from "../../src/tracking/apps.ts"

/** Tracks an app of a workspace: its own, in the United States, without a keyword, unless said. Gives its id. */
export function trackOwn(sql: Sql, app: Partial<NewApp> & { workspaceId: number }): Promise<string> {
  return sql.begin((tx) => trackApp(tx, { countries: ["us"], keywords: [], origin: "own", ...app }))
}
