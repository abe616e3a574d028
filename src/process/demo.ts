import { CommandProblem } from "../commands/cli/command.ts"
import { readTree } from "../database/assets.ts"
import type { Sql } from "../database/types.ts"
import { DEMO_FILE, type LoadedDemo, loadDemo } from "../tracking/demo.ts"

/**
 * Loads the demo once in the life of an instance: never again after `demo remove`, but again when the first time broke
 * off. `firstWorkspaceId` is null unless this start made it. Returns whether it was loaded.
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
  await loadDemoInto(sql, Number(wanted.value))
  await forgetDemo(sql)
  return true
}

export async function loadDemoInto(sql: Sql, workspaceId: number): Promise<LoadedDemo> {
  const file = readTree("fixtures/demo", ".jsonl").get(DEMO_FILE)
  if (file === undefined) throw new CommandProblem(`fixtures/demo/${DEMO_FILE} is missing; restore it from the release`)
  return await loadDemo(sql, workspaceId, file)
}

export async function forgetDemo(sql: Sql): Promise<void> {
  await sql`
    insert into instance (key, value)
    values ('demo', 'done')
    on conflict (key) do update set value = excluded.value`
}
