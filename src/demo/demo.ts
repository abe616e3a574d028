import { DEMO } from "../core/observation/provenance.ts"
import type { Recording } from "../core/recording.ts"
import type { Sql, Tx } from "../database/types.ts"
import { type ImportResult, importLines } from "../measuring/import/import-lines.ts"
import { trackApp } from "../tracking/apps.ts"
import { shownName } from "../tracking/tracked-app.ts"
import { INVENTED_APP, INVENTED_KEYWORDS } from "./invented/world.ts"

/** The demo's import file in fixtures/demo. SOURCE.md there describes its origin. */
export const DEMO_FILE = "search-us-2025-10-25.jsonl"
/** The demo's charts. They belong to no workspace. */
export const DEMO_CHARTS_FILE = "charts.jsonl"

/** Real apps of the file. The last keyword of each is unmeasured, so that all three states appear. */
export const DEMO_APPS = [
  {
    iosId: "1617391485",
    keywords: ["block blast", "offline games", "puzzle games", "car games", "color by number", "block puzzle"],
  },
  {
    iosId: "897446215",
    keywords: ["photo editor", "video editor", "ringtone maker", "dynamic lyrics", "photo collage"],
  },
  { iosId: "6448311069", keywords: ["ai chat", "question ai", "photo editor", "heads up", "chatgpt"] },
  { iosId: "399355755", keywords: ["text free", "text now", "meet me", "authenticator app", "second phone number"] },
] as const

export const DEMO_STOREFRONT = "us"

/** The real apps and the app that is in no store. */
const ALL_APPS: readonly { iosId: string; keywords: readonly string[] }[] = [
  ...DEMO_APPS,
  { iosId: INVENTED_APP.id, keywords: INVENTED_KEYWORDS.map(({ term }) => term) },
]

export interface LoadedDemo extends ImportResult {
  /** The demo's apps in the workspace, including those tracked before. */
  apps: { id: string; name: string }[]
}

/** Imports the text of the demo's file and tracks its apps in a workspace. Repeating it changes nothing. */
export async function loadDemo(recording: Recording, sql: Sql, workspaceId: number, file: string): Promise<LoadedDemo> {
  const imported = await importLines(recording, sql, linesOf(file))
  for (const { iosId, keywords } of DEMO_APPS) {
    await sql.begin(async (tx) => {
      if (await isTracked(tx, workspaceId, iosId)) return
      await trackApp(tx, { workspaceId, iosId, countries: [DEMO_STOREFRONT], keywords, origin: DEMO })
    })
  }
  const apps = await listDemoApps(sql, workspaceId)
  return { ...imported, apps: apps.map(({ id, name }) => ({ id, name })) }
}

interface DemoAppRow {
  id: string
  iosId: string
  name: string
  /** The demo's keywords, without those added later. */
  keywords: readonly string[]
}

/** Returns the demo's apps that the workspace tracks. */
export async function listDemoApps(sql: Sql, workspaceId: number): Promise<DemoAppRow[]> {
  const apps = await sql<Omit<DemoAppRow, "keywords">[]>`
    select a.id, i.store_id as "iosId", ${shownName(sql)} as name
    from tracked_app a
    join store_app i on i.id = a.ios_app
    left join store_app g on g.id = a.android_app
    where a.workspace_id = ${workspaceId} and i.store_id = any(${ALL_APPS.map(({ iosId }) => iosId)}::text[])
    order by a.created_at, a.id
    limit 100`
  return apps.map((app) => ({ ...app, keywords: ALL_APPS.find(({ iosId }) => iosId === app.iosId)!.keywords }))
}

/**
 * Imports the text of the demo's charts file. Skips a chart that another publisher has read. If `assert` throws in a
 * transaction, that transaction is rolled back and the import ends.
 */
export async function loadDemoCharts(
  recording: Recording,
  sql: Sql,
  file: string,
  assert?: (tx: Tx) => Promise<void>,
): Promise<ImportResult> {
  return await importLines(recording, sql, linesOf(file), assert && { note: assert })
}

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.split("\n")
}

async function isTracked(tx: Tx, workspaceId: number, iosId: string): Promise<boolean> {
  const rows = await tx`
    select 1
    from tracked_app a
    join store_app i on i.id = a.ios_app
    where a.workspace_id = ${workspaceId} and i.store_id = ${iosId}`
  return rows.length > 0
}
