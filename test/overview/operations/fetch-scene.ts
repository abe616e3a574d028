import type { Sql } from "../../../src/database/types.ts"
import { fetchRecord } from "../../../src/overview/operations/fetch-record.ts"
import type { trackApp } from "../../../src/tracking/apps.ts"
import { freshDatabase } from "../../database.ts"
import { ask, contextOf, NOW, newWorkspace, reading } from "../../measuring/record/measured.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"

export let sql: Sql
export let service: Service
export let workspaceId: number
export let lumen: string

export const DAY = "2025-11-19T10:00:00Z"
export const TERMS = [
  "tea",
  "mate",
  "milk",
  "50% off",
  "c++",
  "a:b",
  "ça va",
  "日本語 辞書",
  "50%20off",
  "what? & why#",
  "%41",
]

export async function begin() {
  sql = await freshDatabase()
  service = openService({ sql, now: () => NOW })
  workspaceId = await newWorkspace(sql)
  lumen = await track({
    name: "Lumen Journal",
    iosId: "70001",
    androidPkg: "com.example.lumen",
    countries: ["us", "de"],
    keywords: TERMS,
    manualRivals: ["ios:70004", "android:com.example.moodleaf"],
  })
  const results = [
    { id: "70002", name: "Daybook Garden", ratings: 120, developer: "Garden Ltd", icon: "https://example.com/d.png" },
    { id: "70003" },
    { id: "70001", name: "Lumen", ratings: 7 },
    { id: "70004", name: "Moodleaf\nPro", ratings: 9 },
    { id: "70005", name: "Far Below" },
  ]
  await record(
    sql,
    [
      reading("tea", "2025-11-17T10:00:00Z", ["70001"], { depth: 30 }),
      reading("tea", DAY, [], { depth: 30, results }),
      reading("mate", DAY, ["70002", "70004"], { depth: 40 }),
      reading("milk", "2025-11-18T10:00:00Z", ["70002", "70001"], { depth: 30 }),
    ],
    () => NOW,
  )
}

export async function track(
  options: Partial<Parameters<typeof trackApp>[1]>,
  workspace = workspaceId,
): Promise<string> {
  return await trackOwn(sql, { workspaceId: workspace, ...options })
}
export const fetched = (id: string, ctx = contextOf(sql, workspaceId)) => ask(fetchRecord, ctx, { id })

/**
 * Creates a key of a workspace of the test server. With "own" the key is limited to the first of two apps; with null it
 * belongs to the workspace above.
 */
export async function limited(list: "own" | null) {
  if (list === null) {
    await sql`update workspace set overrides = '{"ratePerSecond": 100000}' where id = ${workspaceId}`
    const [{ name } = { name: "" }] = await sql<
      { name: string }[]
    >`select name from workspace where id = ${workspaceId}`
    return { key: await service.key(workspaceId, { workspace: name }), app: lumen, other: "" }
  }
  const workspace = await service.workspace()
  const app = await track({ iosId: "75001" }, workspace)
  const other = await track({ iosId: "75002", keywords: ["tea"], manualRivals: ["ios:70002"] }, workspace)
  return { key: await service.key(workspace, { appList: [app] }), app, other }
}
