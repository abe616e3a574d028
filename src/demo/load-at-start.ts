import { deriveFindings, derivePastFindings } from "../alerts/findings.ts"
import { deleteDemoAccounts } from "../consoles/demo-accounts.ts"
import { DEMO } from "../core/observation/provenance.ts"
import type { Recording } from "../core/recording.ts"
import { readTree } from "../database/assets.ts"
import type { Sql, Tx } from "../database/types.ts"
import { addDays, dayOf } from "../lib/days.ts"
import { type LoadedOwner, loadDemoOwner } from "./accounts/owner.ts"
import { DEMO_CHARTS_FILE, DEMO_FILE, type LoadedDemo, listDemoApps, loadDemo, loadDemoCharts } from "./demo.ts"
import { loadInvented } from "./invented/load.ts"
import { INVENTED_APP, INVENTED_STOREFRONT } from "./invented/world.ts"
import { type RemovedDemo, removeDemo } from "./remove-demo.ts"

/**
 * Loads the demo's apps and search results once per instance. Retries after an interruption, but never loads again
 * after `demo remove`. `firstWorkspaceId` is null unless this start created the workspace. Returns true if they were
 * loaded; then `loadRestOnce` is needed.
 */
export async function loadDemoOnce(recording: Recording, sql: Sql, firstWorkspaceId: number | null): Promise<boolean> {
  if (firstWorkspaceId !== null) {
    await sql`
      insert into instance (key, value)
      values ('demo', ${String(firstWorkspaceId)})
      on conflict (key) do nothing`
  }
  const wanted = await findWanted(sql)
  if (wanted === null) return false
  await loadDemo(recording, sql, wanted, readFile(DEMO_FILE))
  return true
}

/** Returns the workspace whose demo is not complete yet. Null if the demo was loaded completely or removed. */
async function findWanted(sql: Sql): Promise<number | null> {
  const [wanted] = await sql<{ id: number }[]>`
    select w.id
    from instance i
    join workspace w on w.id::text = i.value
    where i.key = 'demo' and w.deleted_at is null`
  return wanted?.id ?? null
}

/** Options for the generated figures: the present time and the number of days. */
interface OwnerDays {
  now?: () => Date
  days?: number
}

/**
 * Loads everything that is generated: the app that is in no store, an owner's figures and reviews, and the resulting
 * alerts.
 */
export async function loadInvention(
  recording: Recording,
  sql: Sql,
  workspaceId: number,
  { now = () => new Date(), days }: OwnerDays,
  assert: (tx: Tx) => Promise<void> = async () => {},
): Promise<LoadedOwner> {
  const world = await loadInvented(recording, sql, { workspaceId, now, days }, assert)
  const apps = await listDemoApps(sql, workspaceId)
  const owner = await loadDemoOwner(recording, sql, { workspaceId, apps, now, days }, assert)
  await findAlerts(sql, now(), assert)
  return { recorded: world.recorded + owner.recorded, alreadyStored: world.alreadyStored + owner.alreadyStored }
}

/** Number of days before today for which alerts are derived. */
const FOUND_DAYS = 29

/** Derives the alerts of the app that is in no store, since workers skip the demo's apps. */
async function findAlerts(sql: Sql, now: Date, assert: (tx: Tx) => Promise<void>): Promise<void> {
  const subject = { platform: "ios" as const, storefront: INVENTED_STOREFRONT, subject: INVENTED_APP.id }
  await sql.begin(async (tx) => {
    await assert(tx)
    await deriveFindings(tx, [subject], now, { origin: DEMO })
  })
  const today = dayOf(now)
  await sql.begin(async (tx) => {
    await assert(tx)
    await derivePastFindings(tx, subject, { from: addDays(today, -FOUND_DAYS), to: today }, now, { origin: DEMO })
  })
}

/**
 * Loads the charts and the generated data, and marks the demo as complete. Returns false if the demo was removed
 * meanwhile.
 */
export async function loadRestOnce(recording: Recording, sql: Sql, owner: OwnerDays = {}): Promise<boolean> {
  try {
    await loadDemoCharts(recording, sql, readFile(DEMO_CHARTS_FILE), assertWanted)
    const workspaceId = await findWanted(sql)
    if (workspaceId !== null) await loadInvention(recording, sql, workspaceId, owner, assertWanted)
  } catch (error) {
    if (error instanceof DemoGone) return false
    throw error
  }
  await forgetDemo(sql)
  return true
}

class DemoGone extends Error {
  override name = "DemoGone"
}

/**
 * Throws DemoGone if the demo was removed. A removal that starts later waits for this transaction and deletes its rows
 * too.
 */
async function assertWanted(tx: Tx): Promise<void> {
  const wanted = await tx`
    select
    from instance
    where key = 'demo' and value <> 'done'
    for share`
  if (wanted.length === 0) throw new DemoGone("the demo was removed")
}

/** Loads the complete demo. */
export async function loadDemoInto(
  recording: Recording,
  sql: Sql,
  workspaceId: number,
  owner: OwnerDays = {},
): Promise<LoadedDemo> {
  const [file, charts] = [readFile(DEMO_FILE), readFile(DEMO_CHARTS_FILE)]
  const loaded = await loadDemo(recording, sql, workspaceId, file)
  const { read, recorded, known: alreadyStored, bad } = await loadDemoCharts(recording, sql, charts)
  const invented = await loadInvention(recording, sql, workspaceId, owner)
  const inventedCount = invented.recorded + invented.alreadyStored
  const apps = await listDemoApps(sql, workspaceId)
  return {
    ...loaded,
    apps: apps.map(({ id, name }) => ({ id, name })),
    read: loaded.read + read + inventedCount,
    recorded: loaded.recorded + recorded + invented.recorded,
    known: loaded.known + alreadyStored + invented.alreadyStored,
    bad: [...loaded.bad, ...bad],
  }
}

function readFile(name: string): string {
  const file = readTree("fixtures/demo", ".jsonl").get(name)
  if (file === undefined) throw new Error(`fixtures/demo/${name} is missing; restore it from the release`)
  return file
}

export async function forgetDemo(sql: Sql): Promise<void> {
  await sql`
    insert into instance (key, value)
    values ('demo', 'done')
    on conflict (key) do update set value = excluded.value`
}

/** Removes the complete demo from every workspace, including its accounts and their data. */
export async function removeAllOfDemo(sql: Sql): Promise<RemovedDemo & { accounts: number }> {
  await forgetDemo(sql)
  const accounts = await sql.begin((tx) => deleteDemoAccounts(tx))
  return { ...(await removeDemo(sql)), accounts }
}
