import { CommandProblem } from "../commands/cli/command.ts"
import { readTree } from "../database/assets.ts"
import type { Sql, Tx } from "../database/types.ts"
import { DEMO_CHARTS_FILE, DEMO_FILE, type LoadedDemo, loadDemo, loadDemoCharts } from "../tracking/demo.ts"

/**
 * Loads the demo's apps with what was found for their keywords, once in the life of an instance: never again after
 * `demo remove`, but again when the first time broke off. `firstWorkspaceId` is null unless this start made it. Returns
 * whether they were loaded: then its charts are wanted (loadChartsOnce).
 */
export async function loadDemoOnce(sql: Sql, firstWorkspaceId: number | null): Promise<boolean> {
  if (firstWorkspaceId !== null) {
    await sql`
      insert into instance (key, value)
      values ('demo', ${String(firstWorkspaceId)})
      on conflict (key) do nothing`
  }
  const [wanted] = await sql<{ value: string }[]>`
    select i.value
    from instance i
    join workspace w on w.id::text = i.value
    where i.key = 'demo' and w.deleted_at is null`
  if (!wanted) return false
  await loadDemo(sql, Number(wanted.value), readFile(DEMO_FILE))
  return true
}

/** Loads the rest, its charts, unless the demo is removed meanwhile; and remembers that all of it was loaded. */
export async function loadChartsOnce(sql: Sql): Promise<void> {
  try {
    await loadDemoCharts(sql, readFile(DEMO_CHARTS_FILE), assertWanted)
  } catch (error) {
    if (error instanceof DemoGone) return
    throw error
  }
  await forgetDemo(sql)
}

class DemoGone extends Error {
  override name = "DemoGone"
}

/** Throws DemoGone once the demo was forgotten; who forgets it waits for this transaction, and then removes what it wrote. */
async function assertWanted(tx: Tx): Promise<void> {
  const wanted = await tx`
    select
    from instance
    where key = 'demo' and value <> 'done'
    for share`
  if (wanted.length === 0) throw new DemoGone("the demo was removed")
}

/** All of it. */
export async function loadDemoInto(sql: Sql, workspaceId: number): Promise<LoadedDemo> {
  const [file, charts] = [readFile(DEMO_FILE), readFile(DEMO_CHARTS_FILE)]
  const loaded = await loadDemo(sql, workspaceId, file)
  const { read, recorded, known, bad } = await loadDemoCharts(sql, charts)
  return {
    ...loaded,
    ...{ read: loaded.read + read, recorded: loaded.recorded + recorded, known: loaded.known + known },
    bad: [...loaded.bad, ...bad],
  }
}

function readFile(name: string): string {
  const file = readTree("fixtures/demo", ".jsonl").get(name)
  if (file === undefined) throw new CommandProblem(`fixtures/demo/${name} is missing; restore it from the release`)
  return file
}

export async function forgetDemo(sql: Sql): Promise<void> {
  await sql`
    insert into instance (key, value)
    values ('demo', 'done')
    on conflict (key) do update set value = excluded.value`
}
